// Driver: inputs without end for code that reads untrusted input. A target is a program
// of two functions; libFuzzer may drive it as well (LLVMFuzzerTestOneInput).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// Inputs that are right, from which others are made.
std::vector<std::string> right_inputs();

// Reads one. Exceptions that its reader promises are caught in it; a crash, any other exception, more than a
// second of work, and more than 512 MiB fail.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
