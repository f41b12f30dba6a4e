"""Beliefs put right, held back, and users paused."""

from __future__ import annotations

from ltm_core.acting import acting, checked
from ltm_core.arguments import optional_text, text_of, words_of
from ltm_core.door.base import Door, When
from ltm_core.keep import audit
from ltm_core.twins import twin
from ltm_core.types import FactChange


class Revising(Door):
    """Beliefs put right, held back, and users paused."""

    def correct(
        self,
        *,
        right: str,
        user_id: str | int,
        wrong: str | None = None,
        fact_id: str | None = None,
        at: When = None,
        actor: str | None = None,
        reason: str | None = None,
    ) -> FactChange:
        """The wrong belief is retracted, ``right`` holds instead for its time, as a statement like any other.

        A known value is reinforced; the same call again returns the earlier outcome with ``op`` "skip". No match:
        NotFoundError; several: ConflictError with the candidates.
        """
        from ltm_core.keep.correct import correct

        scope = self._runtime.scope(user_id)
        instant = self._instant(at, scope.user_id, None)
        with acting(actor, reason):
            return correct(
                self._runtime,
                scope,
                wrong=words_of(wrong, "wrong"),
                fact_id=optional_text(fact_id, "fact_id"),
                right=words_of(right, "right") or "",
                at=instant,
                actor=actor,
            )

    def restore(
        self, fact_id: str, *, user_id: str | int, actor: str | None = None, reason: str | None = None
    ) -> FactChange:
        """A closed, retracted, suppressed or expired fact is current again; another value of its single-valued
        relation ends. No instant gets two values: if one held since, the fact holds anew from now on."""
        from ltm_core.keep.revise import restore

        with acting(actor, reason):
            return restore(self._runtime, self._runtime.scope(user_id), text_of(fact_id, "fact_id"), actor=actor)

    def suppress(
        self, fact_id: str, *, user_id: str | int, actor: str | None = None, reason: str | None = None
    ) -> FactChange:
        """The fact is kept and never brought up, said again or not, until `unsuppress` or `restore`. Another
        value of its single-valued relation closes it."""
        from ltm_core.keep.revise import set_suppressed

        scope = self._runtime.scope(user_id)
        fact_id = text_of(fact_id, "fact_id")
        with acting(actor, reason):
            return set_suppressed(self._runtime, scope, fact_id, suppressed=True, actor=actor)

    def unsuppress(
        self, fact_id: str, *, user_id: str | int, actor: str | None = None, reason: str | None = None
    ) -> FactChange:
        """The fact may be brought up again; of two values of a single-valued relation the later one stays."""
        from ltm_core.keep.revise import set_suppressed

        scope = self._runtime.scope(user_id)
        fact_id = text_of(fact_id, "fact_id")
        with acting(actor, reason):
            return set_suppressed(self._runtime, scope, fact_id, suppressed=False, actor=actor)

    def pause(self, user_id: str | int, *, actor: str | None = None) -> None:
        """Nothing of the user is stored until `resume`; what is known can still be read. `observe` skips what it
        is given; `remember`, `assert_fact` and `set_slot` raise ConflictError."""
        self._set_paused(user_id, True, actor)

    def resume(self, user_id: str | int, *, actor: str | None = None) -> None:
        """The user's turns are stored again."""
        self._set_paused(user_id, False, actor)

    def _set_paused(self, user_id: str | int, paused: bool, actor: str | None) -> None:
        scope = self._runtime.scope(user_id)
        now = self._runtime.now()
        with self._runtime.store.write(scope.user_id) as writer:
            writer.ensure_user(now=now)
            writer.set_user(paused_at=now if paused else None)
            audit.note(writer, "pause" if paused else "resume", now=now, actor=checked(actor, "actor"))

    acorrect = twin(correct)
    arestore = twin(restore)
    asuppress = twin(suppress)
    aunsuppress = twin(unsuppress)
    apause = twin(pause)
    aresume = twin(resume)


__all__ = ["Revising"]
