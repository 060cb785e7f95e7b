/* SPDX-License-Identifier: MIT */
#include "rule.h"

const struct rule *const rules[] = {
	&rule_ipcwait,    &rule_latency, &rule_block, &rule_spin,     &rule_fixed_b,
	&rule_fixed_054b, &rule_random,  &rule_folly, &rule_glibc,    &rule_hotspot,
	&rule_mutexee,    &rule_dotnet,  &rule_jiny,  &rule_haltpoll, &rule_kvm,
};

const unsigned n_rules = sizeof(rules) / sizeof(rules[0]);
