"""The bundled word knowledge: data per language, compiled where it is used."""

from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.load import default_lexicon

__all__ = ["Lexicon", "default_lexicon"]
