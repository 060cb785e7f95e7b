# SPDX-License-Identifier: MIT
# Completion for bash. Commands and options are asked of the program itself, so that they are those
# of the version that is installed.

_ipcwait()
{
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
	local program=${COMP_WORDS[0]} command=${COMP_WORDS[1]} i

	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ] || { [ "$COMP_CWORD" -eq 2 ] && [ "$command" = help ]; }; then
		mapfile -t COMPREPLY < <(compgen -W "$("$program" help 2>/dev/null |
			sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p')" -- "$word")
		return
	fi
	case $command in
	run | record | stat)
		# What stands behind the program is the program's.
		for ((i = 2; i < COMP_CWORD; i++)); do
			case ${COMP_WORDS[i]} in
			--policy | --output | -o | --module | --pid | -p | --for) ((i++)) ;;
			--) ((i++)) && break ;;
			-*) ;;
			*) break ;;
			esac
		done
		if [ "$i" -lt "$COMP_CWORD" ]; then
			_command_offset "$i" 2>/dev/null || mapfile -t COMPREPLY < <(compgen -f -- "$word")
			return
		fi
		;;
	esac
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
	esac
	case $word in
	-*)
		mapfile -t COMPREPLY < <(compgen -W "$("$program" "$command" --help 2>/dev/null |
			grep -o -- '--[a-z][a-z-]*' | sort -u)" -- "$word")
		;;
	*)
		case $command in
		run | record | stat) mapfile -t COMPREPLY < <(compgen -c -- "$word") ;;
		*) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
		esac
		;;
	esac
}

complete -F _ipcwait ipcwait
