"""The scripts that hand what can be completed to bash, zsh and fish.

All of it stands in the script: a key pressed in a shell starts no Python.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote

from madeleine.cli.completion_words import CommandCompletion, OptionCompletion

_BASH = """\
# bash completion for madeleine: source <(madeleine completion bash)
_madeleine() {
  local current=$2 previous=$3 command= words= options= paths= at
  COMPREPLY=()
  for ((at = 1; at < COMP_CWORD; at++)); do
    case ${COMP_WORDS[at]} in
      --home) ((at++)) ;;
      -*) ;;
      *) command=${COMP_WORDS[at]}; break ;;
    esac
  done
  case "$command $previous" in
@VALUES@
  esac
  case $command in
@COMMANDS@
  esac
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    if [[ $paths ]]; then
      compopt -o filenames 2> /dev/null
      COMPREPLY+=($(compgen -f -- "$current"))
    fi
  fi
}
complete -F _madeleine madeleine
"""

_ZSH = """\
#compdef madeleine
# zsh completion for madeleine: madeleine completion zsh > "${fpath[1]}/_madeleine"
_madeleine() {
  local at command=
  for ((at = 2; at < CURRENT; at++)); do
    case ${words[at]} in
      --home) ((at++)) ;;
      -*) ;;
      *) command=${words[at]}; break ;;
    esac
  done
  case "$command ${words[CURRENT-1]}" in
@VALUES@
  esac
  local -a known
  case $command in
@COMMANDS@
  esac
}
if [[ $funcstack[1] == _madeleine ]]; then _madeleine "$@"; else compdef _madeleine madeleine; fi
"""

_FISH = """\
# fish completion for madeleine: madeleine completion fish | source
function __madeleine_command
    set -l skipped no
    for word in (commandline -opc)[2..]
        if test $skipped = yes
            set skipped no
        else if test $word = --home
            set skipped yes
        else if not string match -q -- '-*' $word
            echo $word
            return
        end
    end
end
function __madeleine_is
    test "$(__madeleine_command)" = "$argv[1]"
end
complete -c madeleine -f
@LINES@
"""


def render_script(shell: str, commands: Sequence[CommandCompletion]) -> str:
    """Return the script for bash, zsh or fish."""
    match shell:
        case "bash":
            values, cases = _render_bash_values(commands), _render_bash_cases(commands)
            return _fill(_BASH, values, cases)
        case "zsh":
            values, cases = _render_zsh_values(commands), _render_zsh_cases(commands)
            return _fill(_ZSH, values, cases)
        case _:
            return _FISH.replace("@LINES@", "\n".join(_render_fish_lines(commands)))


def _fill(script: str, values: Iterator[str], cases: Iterator[str]) -> str:
    filled = script.replace("@VALUES@", "\n".join(values))
    return filled.replace("@COMMANDS@", "\n".join(cases))


def _list_valued_options(
    commands: Sequence[CommandCompletion],
) -> Iterator[tuple[str, OptionCompletion]]:
    """Yield each option that takes a value, as a pattern of command and option."""
    for command in commands:
        for option in command.options:
            if option.takes_value and "--home" not in option.names:
                for name in option.names:
                    yield f'"{command.name} {name}"', option


def _render_bash_values(commands: Sequence[CommandCompletion]) -> Iterator[str]:
    folders = 'compopt -o filenames 2> /dev/null; COMPREPLY=($(compgen -d -- "$current"))'
    yield f'    *" --home") {folders}; return ;;'
    files = folders.replace("-d", "-f", 1)
    for pattern, option in _list_valued_options(commands):
        if option.is_path:
            yield f"    {pattern}) {files}; return ;;"
        elif option.values:
            listed = f'COMPREPLY=($(compgen -W "{" ".join(option.values)}" -- "$current"))'
            yield f"    {pattern}) {listed}; return ;;"
        else:
            yield f"    {pattern}) return ;;"


def _render_bash_cases(commands: Sequence[CommandCompletion]) -> Iterator[str]:
    names = " ".join(each.name for each in commands)
    yield f'    "") words="{names}" options="--home --json --help --version" ;;'
    for each in commands:
        options = " ".join(name for option in each.options for name in option.names)
        paths = " paths=yes" if each.takes_path else ""
        yield f'    {each.name}) words="{" ".join(each.words)}" options="{options}"{paths} ;;'


def _render_zsh_values(commands: Sequence[CommandCompletion]) -> Iterator[str]:
    yield '    *" --home") _files -/; return ;;'
    for pattern, option in _list_valued_options(commands):
        if option.is_path:
            yield f"    {pattern}) _files; return ;;"
        elif option.values:
            yield f"    {pattern}) compadd -- {' '.join(option.values)}; return ;;"
        else:
            yield f"    {pattern}) return ;;"


def _render_zsh_cases(commands: Sequence[CommandCompletion]) -> Iterator[str]:
    described = " ".join(_describe(each.name, each.about) for each in commands)
    yield f'    "") known=({described}); _describe command known ;;'
    for each in commands:
        options = " ".join(
            _describe(name, option.about) for option in each.options for name in option.names
        )
        yield f"    {each.name})"
        yield f"      if [[ $PREFIX == -* ]]; then known=({options}); _describe option known"
        others = ["_files"] if each.takes_path else []
        words = [f"compadd -- {' '.join(each.words)}"] if each.words else []
        yield f"      else {'; '.join([*words, *others]) or ':'}; fi ;;"


def _describe(name: str, about: str) -> str:
    """Return a completion and what it means, as zsh takes them: a colon stands between."""
    return quote(f"{name}:{about.replace(':', ' -')}")


def _render_fish_lines(commands: Sequence[CommandCompletion]) -> Iterator[str]:
    complete = "complete -c madeleine"
    folders = "-xa '(__fish_complete_directories)'"
    yield f"{complete} -l home -d 'the folder that holds the memories' {folders}"
    for each in commands:
        yield f"{complete} -n '__madeleine_is \"\"' -a {each.name} -d {_quote_for_fish(each.about)}"
        here = f"{complete} -n '__madeleine_is {each.name}'"
        if each.takes_path:
            yield f"{here} -F"
        if each.words:
            yield f"{here} -a {_quote_for_fish(' '.join(each.words))}"
        for option in each.options:
            if "--home" not in option.names:
                yield f"{here} {_render_fish_option(option)}"


def _render_fish_option(option: OptionCompletion) -> str:
    names = [
        f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names
    ]
    after: list[str] = []
    if option.is_path:
        after = ["-rF"]
    elif option.takes_value:
        after = [f"-xa {_quote_for_fish(' '.join(option.values))}"]
    return " ".join([*names, *after, f"-d {_quote_for_fish(option.about)}"])


def _quote_for_fish(text: str) -> str:
    """Return a word as fish reads it: within single quotes only these two are escaped."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
