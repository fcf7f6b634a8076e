// Crash: where and why a rank's process was ended by a signal, in words for the author of the code.
#pragma once

#include <string>

#include "judge/frame.h"

namespace judge {

// `told`: its last words (last_words.h); `printed`: what the standard library may have said of it. "at
// ring_all_reduce.cpp:42: an index is out of range"; empty when nothing is known. Nothing of it is trusted.
std::string crash_in_words(const std::string& program, const Json& told, const std::string& printed);

}  // namespace judge
