/* SPDX-License-Identifier: MIT */
/* All of the batch goes in; after that, nothing: what was not pushed is still there. */
#include "request.hpp"

struct request {
	std::string name;
};

static std::vector<std::unique_ptr<request>> read_some()
{
	std::vector<std::unique_ptr<request>> some;

	for (auto name : { "a", "b", "c" })
		some.push_back(std::make_unique<request>(request{ name }));
	return some;
}

int main()
{
	ipcwait::queue<std::unique_ptr<request>> requests;

	/* @BLOCK@ */

	if (n != 3 || batch[0] || (*requests.pop())->name != "a")
		return 1;
	requests.close();
	batch = read_some();
	if (requests.push_bulk(std::make_move_iterator(batch.begin()), batch.size()) != 0)
		return 1;
	return batch[0]->name == "a" ? 0 : 1;
}
