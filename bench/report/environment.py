# SPDX-License-Identifier: MIT
"""Where and how the figures were measured: the footer, the verdict, and all that is known."""

from . import data, show

METHOD = ("runs", "trim", "min_time_s", "order")  # for the head; the section has all of it


def find(tree, key):
    """The first value of @key at any depth that is a text or a number."""
    if not isinstance(tree, dict):
        return None
    if isinstance(tree.get(key), (str, int, float)) and not isinstance(tree.get(key), bool):
        return str(tree[key])
    return next((f for f in (find(v, key) for v in tree.values()) if f is not None), None)


def command(part):
    words = part.get("command")
    return " ".join(map(str, words)) if isinstance(words, list) else "not recorded"


def machine(environment):
    """One line; what is not known is left out, but not that nothing is."""
    cpus, kernel = find(environment, "cpus_usable"), find(environment, "kernel_release")
    hypervisor = find(environment, "hypervisor")
    reason = find(environment, "hypervisor_reason")
    known = [find(environment, "cpu_model"), cpus and (f"{cpus} CPUs" if cpus != "1" else "1 CPU"),
             kernel and f"Linux {kernel}",
             hypervisor or (f"hypervisor: {reason}" if reason else None)]
    text = ", ".join(show.clean(k) for k in known if k)
    return text or show.clean(find(environment, "host_label") or "machine not recorded")


def version(environment):
    """The library's version and the commit, or whichever of them is known."""
    library, commit = find(environment, "libipcwait_version"), find(environment, "git")
    known = [library and f"libipcwait {library}", commit and f"commit {commit}"]
    return ", ".join(k for k in known if k) or "version not recorded"


def footer(result):
    """The two lines beneath every figure."""
    part = data.own(result)
    environment = part.get("environment")
    return [machine(environment),
            show.clean(f"{version(environment)}; {part.get('started') or 'date not recorded'}; "
                       f"{command(part)}")]


def sentence(text):
    """@text from its capital letter to its full stop; "" if there is nothing in it. Files had
    lists that end in "...", before the harness wrote how many more there are."""
    text = text.strip() if isinstance(text, str) else ""
    cut_off = text.endswith("...")
    text = text.strip(" .,;:")
    if not text:
        return ""
    return text[0].upper() + text[1:] + (" and more." if cut_off else ".")


def disturbance(found):
    """What /proc/stat showed, or what kept it from being looked at."""
    noisy, total = found.get("noisy_runs"), found.get("total_runs")
    if not total:
        return ""
    if noisy == 0:
        return f"No disturbance seen in /proc/stat in {total} runs."
    return (f"{noisy if noisy is not None else '?'} of {total} runs were disturbed by other "
            "programs.")


def caveats(found):
    """(kind, sentences) of a verdict that lets the figures stand. Rounds may have moved as a whole
    without a trace in /proc/stat: a neighbour on the host, or another clock rate."""
    why, moved = sentence(found.get("why")), found.get("rounds")
    texts = [why or disturbance(found)]
    if isinstance(moved, list):
        moved = [s for s in map(sentence, moved) if s]
        texts += moved
    elif found.get("total_runs"):
        texts.append("Whether whole rounds moved was not looked at.")
    return "warn" if why or (isinstance(moved, list) and moved) else "good", texts


def reproaches(part, found):
    """What takes the figures' worth."""
    used, texts = part.get("method") if isinstance(part.get("method"), dict) else {}, []
    if used.get("slowed"):
        texts.append(f"Deliberately slowed: {used['slowed']} (IPCWAIT_BENCH_SLOW).")
    if found.get("noisy"):
        texts += ["The machine was too noisy, these figures mean little.",
                  sentence(found.get("why")) or disturbance(found)]
    if part.get("complete") is False:
        texts.append("The run was interrupted: what is missing was not measured.")
    return texts


def banners(result):
    """[(kind, sentences)], the worst first; a kind is "bad", "warn" or "good"."""
    part = data.own(result)
    found = part.get("verdict") if isinstance(part.get("verdict"), dict) else {}
    every = [("bad", reproaches(part, found))] + ([] if found.get("noisy") else [caveats(found)])
    return [(kind, show.clean(" ".join(filter(None, texts)))) for kind, texts in every
            if any(texts)]


def method(result):
    """How it was measured, in one line of the page's head."""
    found = data.own(result).get("method")
    found = found if isinstance(found, dict) else {}
    return ", ".join(f"{k} {show.clean(found[k])}" for k in METHOD if found.get(k) is not None)


def flat(tree, prefix=""):
    """[(key, text)] of everything, with dots between the levels."""
    if isinstance(tree, dict):
        return [pair for key, value in tree.items()
                for pair in flat(value, f"{prefix}.{key}" if prefix else str(key))]
    if isinstance(tree, list) and tree and any(isinstance(v, (dict, list)) for v in tree):
        return [pair for i, value in enumerate(tree) for pair in flat(value, f"{prefix}[{i}]")]
    if isinstance(tree, list):
        return [(prefix, ", ".join(map(show.clean, tree)) or "none")]
    known = {True: "yes", False: "no", None: "not available"}
    text = known[tree] if tree is None or isinstance(tree, bool) else show.clean(tree)
    return [(prefix, text)]


def lines(result):
    """The environment and the method as (key, text); a reason stands with what it explains."""
    part = data.own(result)
    pairs = flat(part.get("environment") or {"environment": None}) + flat(part.get("method"),
                                                                         "method")
    reasons = {k[:-7]: v for k, v in pairs if k.endswith("_reason")}
    return [[k, f"{v}: {reasons[k]}" if v == "not available" and k in reasons else v]
            for k, v in pairs if not (k.endswith("_reason") and any(k[:-7] == o for o, _ in pairs))]
