#!/usr/bin/env python3
"""Each lab from 03 on has a PyTorch twin, labs/NN_name/twin.py. Both handouts show it, and what it prints.

twins_test.py ROOT             the handouts show each twin as it is, and it compiles; needs no PyTorch
twins_test.py ROOT --run LAB   also, the twins of these labs print what the handouts show
twins_test.py ROOT --write     runs all twins and renews what the handouts show
"""
import os
import pathlib
import re
import subprocess
import sys

FIRST = "03"
FOLD = re.compile(
    r"(<details><summary>[^<\n]*twin\.py</summary>\n\n```python\n)(.*?)"
    r"(```\n\n[^\n]*\n\n```text\n)(.*?)(```\n\n</details>\n)",
    re.DOTALL,
)
SKIP = 77


def python_with_torch():
    # A package of the distribution is the distribution's python3's, which need not be the first one.
    candidates = [os.environ.get("DISTLAB_PYTHON"), "python3", "/usr/bin/python3"]
    for python in filter(None, candidates):
        command = [python, "-c", "import torch.distributed as d; assert d.is_gloo_available()"]
        if subprocess.run(command, capture_output=True, check=False).returncode == 0:
            return python
    print("skipped: python3 has no torch here; ./distlab setup --engines installs it (python3-torch)")
    sys.exit(SKIP)


def output_of(python, program):
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.run(
        [python, program], capture_output=True, text=True, timeout=120, env=environment, check=False
    )
    if run.returncode != 0:
        return f"exit code {run.returncode}\n{run.stderr}"
    return run.stdout


def faults_of(lab, python):
    twin, shown_outputs = lab / "twin.py", set()
    if not twin.exists():
        yield f"{twin} is missing: each lab from {FIRST} on has a twin"
        return
    program = twin.read_text(encoding="utf-8")
    try:
        compile(program, str(twin), "exec")
    except SyntaxError as error:
        yield f"{twin}:{error.lineno} does not compile: {error.msg}"
        return
    printed = output_of(python, twin) if python else None
    for page in (lab / "README.md", lab / "README.zh-CN.md"):
        folds = FOLD.findall(page.read_text(encoding="utf-8"))
        if len(folds) != 1:
            yield f"{page} has {len(folds)} blocks for twin.py; it needs one"
            continue
        _, shown, command, shown_output, _ = folds[0]
        shown_outputs.add(shown_output)
        if shown != program:
            yield f"{page} does not show twin.py as it is"
        if f"labs/{lab.name}/twin.py" not in command:
            yield f"{page} does not say how to run labs/{lab.name}/twin.py"
        if printed is not None and shown_output != printed:
            yield f"{page} shows:\n{shown_output}but twin.py prints:\n{printed}"
    if len(shown_outputs) == 2:
        yield f"the two handouts of {lab.name} show different outputs of twin.py"


def write(lab, python):
    program, printed = (lab / "twin.py").read_text(encoding="utf-8"), output_of(python, lab / "twin.py")
    for page in (lab / "README.md", lab / "README.zh-CN.md"):
        text = page.read_text(encoding="utf-8")
        shown = FOLD.sub(lambda fold: fold[1] + program + fold[3] + printed + fold[5], text)
        page.write_text(shown, encoding="utf-8")


def main():
    root, mode, chosen = pathlib.Path(sys.argv[1]), sys.argv[2:3], sys.argv[3:]
    labs = sorted(lab for lab in (root / "labs").glob("[0-9][0-9]_*") if lab.name[:2] >= FIRST)
    assert len(labs) >= 18, f"labs are missing in {root}"
    python = python_with_torch() if mode else None
    if mode == ["--write"]:
        for lab in labs:
            write(lab, python)
        return
    faults = []
    for lab in labs:
        faults += faults_of(lab, python if lab.name in chosen else None)
    if faults:
        print(*faults, sep="\n")
        sys.exit(f"renew the handouts with: {sys.argv[0]} {root} --write (and their translations' last line)")


if __name__ == "__main__":
    main()
