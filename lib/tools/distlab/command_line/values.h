// What the values of options have to be, for CLI11. Only the sources of the command line include this.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "dist/core/error.h"

#include "distlab/size_text.h"

namespace distlab {

// Of numbers. CLI11's own name the largest double there is.
inline const CLI::Validator positive(
    [](const std::string& text) { return std::atof(text.c_str()) > 0 ? "" : text + " is not above 0"; },
    "POSITIVE");
// Also of unsigned ones: a minus would be taken, and wrap around.
inline const CLI::Validator no_minus(
    [](const std::string& text) { return text.starts_with('-') ? text + " is below 0" : ""; }, "");
// A seed: 64 bits. CLI11 would take a larger number for the largest.
inline const CLI::Validator a_seed(
    [](const std::string& text) {
      if (text.starts_with('-')) return text + " is below 0";
      std::uint64_t seed = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
      const bool is_one = error == std::errc() && end == text.data() + text.size();
      return is_one ? "" : text + " is no seed: a whole number from 0 to 18446744073709551615";
    },
    "SEED");
inline const CLI::Validator not_empty(
    [](const std::string& text) { return text.empty() ? "it is empty" : ""; }, "");

// Of a file that is written, and never standard output.
inline const CLI::Validator a_file(
    [](const std::string& text) { return text.empty() || text == "-" ? "it needs the name of a file" : ""; },
    "FILE");

// Of one that may be "-".
inline const CLI::Validator a_file_or_stdout(
    [](const std::string& text) {
      return text.empty() ? "it needs the name of a file, or - for standard output" : "";
    },
    "FILE");

// Turns "4KiB" into "4096"; for Option::transform().
inline const CLI::Validator a_size(
    [](std::string& text) {
      try {
        return text = std::to_string(bytes_of(text)), std::string();
      } catch (const dist::Error& error) {
        return fmt::format("\"{}\": {}; as in 4, 64KiB, 1MiB", text, error.what());
      }
    },
    "SIZE");

// All that ranks can be told to use, "gloo" as PyTorch's name for "host"; "sim" is not told, it is what
// simulated ranks have.
inline const CLI::IsMember a_backend({"auto", "host", "gloo", "cuda", "nccl", "mpi"});

}  // namespace distlab
