// pytorch_rank.py, which the program carries with it.
#pragma once

#include <string_view>

namespace distlab::bench {

std::string_view pytorch_script();

}  // namespace distlab::bench
