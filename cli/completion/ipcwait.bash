# SPDX-License-Identifier: MIT
# Completion for bash. Commands and options are asked of the program itself, so that they are those
# of the version that is installed.

_ipcwait_files()
{
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen -f -- "$1")
}

# Where the program is that a command runs: behind the options.
_ipcwait_program_at()
{
	local i

	for ((i = 2; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--policy | --output | -o | --module | --pid | -p | --for | --budget | --backend) ((i++)) ;;
		--)
			((i++))
			break
			;;
		-*) ;;
		*) break ;;
		esac
	done
	printf '%s\n' "$i"
}

_ipcwait()
{
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
	local program=${COMP_WORDS[0]} command=${COMP_WORDS[1]} at=$COMP_CWORD

	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ] || { [ "$COMP_CWORD" -eq 2 ] && [ "$command" = help ]; }; then
		mapfile -t COMPREPLY < <(compgen -W "$("$program" help 2>/dev/null |
			sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p')" -- "$word")
		return
	fi
	case $command in
	run | record | stat | awake) at=$(_ipcwait_program_at) ;;
	esac
	if [ "$at" -lt "$COMP_CWORD" ]; then
		_command_offset "$at" 2>/dev/null || _ipcwait_files "$word"
		return
	fi
	case $before in
	--policy)
		mapfile -t COMPREPLY < <(compgen -W "adaptive latency power spin block haltpoll ticks" \
			-- "$word")
		return
		;;
	--by)
		mapfile -t COMPREPLY < <(compgen -W "waits time cpu" -- "$word")
		return
		;;
	--backend)
		mapfile -t COMPREPLY < <(compgen -W "auto qos spinner" -- "$word")
		return
		;;
	--pid | -p)
		mapfile -t COMPREPLY < <(compgen -W "$(ps -u "$UID" -o pid= 2>/dev/null)" -- "$word")
		return
		;;
	--output | -o | --module | --json | --svg | --root)
		_ipcwait_files "$word"
		return
		;;
	esac
	case $command:$word in
	*:-*)
		mapfile -t COMPREPLY < <(compgen -W "$("$program" "$command" --help 2>/dev/null |
			grep -o -- '--[a-z][a-z-]*' | sort -u)" -- "$word")
		;;
	run:* | record:* | stat:* | awake:*) mapfile -t COMPREPLY < <(compgen -c -- "$word") ;;
	*) _ipcwait_files "$word" ;;
	esac
}

complete -F _ipcwait ipcwait
