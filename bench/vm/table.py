# SPDX-License-Identifier: MIT
"""The table of the stand-alone command."""

COLUMNS = (("ns_per_item", "us/item", 1e-3), ("cpu_us_per_item", "CPU us/item", 1),
           ("interrupts_per_item", "RES+CAL/item", 1), ("futex_calls_per_item", "futex/item", 1),
           ("switches_per_item", "switches/item", 1))


def _cell(row, name, factor):
    figure = row.get(name) or row.get("times", {}).get(name)
    if not figure or figure["values"] is None:
        return "-"
    return f"{figure['median'] * factor:.3g}"


def _notes(entry):
    yield f"idle driver {entry.get('idle_driver')}, governor {entry.get('idle_governor')}"
    if entry["counts_only"]:
        yield "emulated by TCG, so counts only, no times"
    if entry.get("ignored"):
        yield f"{entry['idle']} was {entry['ignored']}"
    for key, name in (("accel_reason", "no KVM"), ("error", "error")):
        if entry.get(key):
            yield f"{name}: {entry[key]}"


def text(entry):
    """One host or guest, with what has to be known to read it. A dash is not available."""
    lines = [entry["label"]]
    if entry.get("rows"):
        lines.append(f"  {'row':10}" + "".join(f"{head:>15}" for _, head, _ in COLUMNS))
    for row in entry.get("rows", []):
        cells = (_cell(row, name, factor) for name, _, factor in COLUMNS)
        lines.append(f"  {row['row']:10}" + "".join(f"{cell:>15}" for cell in cells))
    return "\n".join([*lines, *(f"  {note}" for note in _notes(entry))])
