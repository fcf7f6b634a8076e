// The text that `train --model gpt` learns without --data: labs/handbook/corpus.txt, a copy of the handouts
// that never changes, so that figures stay comparable. It is part of the program, so that this needs no
// checkout.
#pragma once

#include <string_view>

namespace distlab {

std::string_view corpus();

}  // namespace distlab
