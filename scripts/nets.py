"""What the trainings of the nets that read word by word have in common, with torch (`write.learned.layers`)."""

from __future__ import annotations

from typing import Any

import torch
from learning import short
from torch import Tensor, nn
from torch.nn import functional

from ltm_core.write.learned.gate import pack
from ltm_core.write.learned.layers import CONVOLUTIONS, REACH


def with_neighbours(x: Tensor, layers: nn.ModuleDict, there: Tensor) -> Tensor:
    """The pieces of some texts, each with what the convolutions see around it; ``there``: which of them there are."""
    for name in CONVOLUTIONS:
        row = functional.pad(x, (0, 0, 1, 1))
        window = torch.cat([row[:, k : k + x.shape[1]] for k in range(REACH)], dim=-1)
        x = (x + torch.relu(layers[name](window))) * there[..., None]
    return x


class Descent:
    """AdamW whose rate falls to a twentieth over ``steps``."""

    def __init__(self, net: nn.Module, *, rate: float, decay: float, steps: int) -> None:
        self._down = torch.optim.AdamW(net.parameters(), lr=rate, weight_decay=decay)
        self._slower = torch.optim.lr_scheduler.LambdaLR(self._down, lambda t: max(0.05, 1 - t / steps))

    def step(self, loss: Tensor) -> float:
        """The net is a step further down; the loss as a number."""
        self._down.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self._down.step()
        self._slower.step()
        return float(loss.detach())


def packed_layers(layers: nn.ModuleDict) -> dict[str, Any]:
    """The layers as they are shipped: what `ltm_core.write.learned.layers.make_layers` reads."""
    return {
        name: {
            "weight": pack(layer.weight.detach().numpy().reshape(-1)),
            "bias": short(layer.bias.detach().numpy()),
        }
        for name, layer in layers.items()
    }
