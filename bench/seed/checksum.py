# SPDX-License-Identifier: MIT
"""What the seed's Go programs must come to, in wrapping signed arithmetic of 64 bits."""

WORKERS = 50
RECORD = 30             # bytes of a write
SPIN = 100 * 1000       # spin(100): 100 added to itself 1000 times
STAGES = 4
STAGE_SPIN = 1000 * 10000
LEAST_SPIN = 10         # spin(1)


def wrap(number):
    """As a signed number of 64 bits."""
    return (number + 2**63) % 2**64 - 2**63


def server(rounds):
    """Also of serverchannel: every worker answers i x 2 x 30 x spin(100)."""
    return wrap(WORKERS * 2 * RECORD * SPIN * (rounds * (rounds - 1) // 2))


def seda(rounds):
    """Every item gets 30 x spin(1000) added in each of the four stages."""
    return wrap(rounds * (rounds - 1) // 2 + rounds * STAGES * RECORD * STAGE_SPIN)


def pingpong(rounds):
    """One worker, who does hardly anything."""
    return wrap(2 * RECORD * LEAST_SPIN * (rounds * (rounds - 1) // 2))


def file(writes):
    """The bytes written."""
    return writes * RECORD


EXPECTED = {"server": server, "serverchannel": server, "seda": seda, "pingpong": pingpong,
            "file": file}


def problem(test, rounds, total):
    """None if @total is right, else what is wrong with it."""
    expected = EXPECTED[test](rounds)
    try:
        same = int(total) == expected
    except (TypeError, ValueError):
        same = False
    return None if same else f"FAILED: total {total}, expected {expected}"
