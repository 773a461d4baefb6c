"""What a noise is, in one line."""

from typing import TYPE_CHECKING

from bayescale.tables import quantity

if TYPE_CHECKING:
    from bayescale.noise.noise import Noise


def describe(noise: "Noise") -> str:
    """One line for tables and print-outs."""
    name = "Student-t" if noise.tail == "student_t" else "normal"
    on = {"log": "log response", "logit": "log odds of the response"}.get(noise.on, "response")
    parts = [f"{name} on {on}"]
    if noise.grid:
        values = [quantity(v, 4) for v in (noise.grid[0], noise.grid[-1])]
        parts.append(f"known to the nearest of {len(noise.grid)} values {' to '.join(values)}")
    if noise.known_sd:
        parts.append(f"measurement sd from '{noise.known_sd}'")
    if noise.varies_with:
        parts.append(f"scale changes with {noise.varies_with}")
    if noise.offsets:
        parts.append(f"an offset for each '{noise.runs}'")
    if noise.along:
        parts.append(f"AR(1) along {noise.along} in each '{noise.runs}'")
    if noise.by:
        parts.append(f"a scale for each '{noise.by}'")
    return ", ".join(parts)
