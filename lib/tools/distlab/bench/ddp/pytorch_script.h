// pytorch_rank.py, which is compiled into the program.
#pragma once

#include <string_view>

namespace distlab::bench {

std::string_view pytorch_script();

}  // namespace distlab::bench
