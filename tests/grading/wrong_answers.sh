#!/usr/bin/env bash
# wrong_answers.sh: reads a lab's wrong_answers.cpp; tests/README.md says how it is written.
#   wrong_answers.sh list FILE          one line each: NAME<tab>MISCONCEPTION<tab>KILLED BY<tab>DIAGNOSIS
#   wrong_answers.sh split FILE FOLDER  writes FOLDER/NAME.cpp for each: the source of its program
#   wrong_answers.sh whole FILE NAME    prints this source with the solution in it, as a file that can be handed in
#
# Each is a program of its own. All in one would compile no faster, because each needs a copy of the solution. A source
# does not say where in FILE it comes from (#line), and is written only if it changes: so an edit compiles one program.
set -euo pipefail
file=$(readlink -f "$2")
root=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/../..")
awk -v what="$1" -v wanted="${3:-}" -v path="${file#"$root"/}" -v root="$root" '
  function fail(text) { print path ": " text > "/dev/stderr"; failed = 1; exit 1 }

  /^\/\/\/\/ / {
    name = $NF
    if (name in code) fail("there are two of the name " name)
    if (!/^\/\/\/\/ (shared )?[a-z0-9_]+$/) fail("\"" $0 "\" is not \"//// NAME\"")
    is_shared[name] = $2 == "shared"
    if (!is_shared[name]) names[++count] = name
    code[name] = about[name] = label = ""
    in_entry = 1
    next
  }
  name == "" { head = head $0 "\n"; next }
  in_entry && /^\/\/ / {
    about[name] = about[name] $0 "\n"
    text = substr($0, 4)
    if (match(text, /^(Misconception|Replaces|Uses|Killed by|Diagnosis): /)) {
      label = substr(text, 1, RLENGTH - 2)
      field[name, label] = substr(text, RLENGTH + 1)
    } else field[name, label] = field[name, label] " " text
    next
  }
  { in_entry = 0 }
  $0 == "#include SOLUTION" { before[name] = code[name]; code[name] = ""; next }
  { code[name] = code[name] $0 "\n" }

  function trimmed(text) {
    gsub(/^\n+|\n+$/, "", text)
    return text == "" ? "" : text "\n"
  }
  function in_namespace(text) { return text == "" ? "" : "\nnamespace lab {\n\n" text "\n}  // namespace lab\n" }
  # "Replaces: f, g kept as h" keeps the right f as right_f, and the right g as h.
  function source(name,    n, i, part, word, defines, undefs, text) {
    n = split(field[name, "Replaces"], part, /, */)
    for (i = 1; i <= n; ++i) {
      if (split(part[i], word, / kept as /) == 1) word[2] = "right_" word[1]
      defines = defines "#define " word[1] " " word[2] "\n"
      undefs = undefs "#undef " word[1] "\n"
    }
    text = "// Made from " path ". Edit that file.\n" about[name] "\n" trimmed(head) "\n" trimmed(before[name]) defines solution undefs
    n = split(field[name, "Uses"], part, /, */)
    for (i = 1; i <= n; ++i) {
      if (!is_shared[part[i]]) fail(name " uses " part[i] ", but there is no \"//// shared " part[i] "\"")
      text = text in_namespace(trimmed(code[part[i]]))
    }
    return text in_namespace(trimmed(code[name]))
  }
  function read_all(file,    line, text) {
    while ((getline line < file) > 0) text = text line "\n"
    close(file)
    return text
  }
  function save(file, text) {
    if (read_all(file) == text) return
    printf "%s", text > file
    close(file)
  }
  END {
    if (failed) exit 1
    folder = path
    gsub(/^.*grading\/|\/[^\/]*$/, "", folder)
    file = "solutions/" folder "/" substr(folder, 4) ".cpp"
    solution = what == "whole" ? read_all(root "/" file) : "#include \"" file "\"\n"
    split("Misconception,Killed by,Diagnosis", needed, ",")
    for (i = 1; i <= count; ++i) {
      name = names[i]
      for (j = 1; j <= 3; ++j)
        if (field[name, needed[j]] == "") fail(name " has no \"// " needed[j] ": \"")
      if (what == "list")
        print name "\t" field[name, needed[1]] "\t" field[name, needed[2]] "\t" field[name, needed[3]]
      else if (what == "split") save(wanted "/" name ".cpp", source(name))
      else if (wanted == name) { printf "%s", source(name); exit }
    }
    if (what == "whole") fail("there is no wrong answer " wanted)
  }' "$file"
