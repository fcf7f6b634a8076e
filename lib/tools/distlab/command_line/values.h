// Checks of options' values, for CLI11. Only the sources of the command line include this header.
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

// For numbers. CLI11's own check would name the largest double in its message.
inline const CLI::Validator positive(
    [](const std::string& text) {
      return std::atof(text.c_str()) > 0 ? "" : text + " is not greater than 0";
    },
    "POSITIVE");
// CLI11 accepts a minus sign even for unsigned numbers, and wraps around.
inline const CLI::Validator no_minus(
    [](const std::string& text) { return text.starts_with('-') ? text + " is less than 0" : ""; }, "");
// A seed has 64 bits. CLI11 would replace a larger number by the largest.
inline const CLI::Validator a_seed(
    [](const std::string& text) {
      if (text.starts_with('-')) return text + " is less than 0";
      std::uint64_t seed = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
      const bool is_one = error == std::errc() && end == text.data() + text.size();
      return is_one ? "" : text + " is not a seed; take a whole number from 0 to 18446744073709551615";
    },
    "SEED");
inline const CLI::Validator not_empty(
    [](const std::string& text) { return text.empty() ? "it must not be empty" : ""; }, "");

// For a file that is written and cannot be standard output.
inline const CLI::Validator a_file(
    [](const std::string& text) { return text.empty() || text == "-" ? "name a file" : ""; }, "FILE");

// For a file that may be "-", standard output.
inline const CLI::Validator a_file_or_stdout(
    [](const std::string& text) { return text.empty() ? "name a file, or - for standard output" : ""; },
    "FILE");

// Turns "4KiB" into "4096"; for Option::transform().
inline const CLI::Validator a_size(
    [](std::string& text) {
      try {
        return text = std::to_string(bytes_of(text)), std::string();
      } catch (const dist::Error& error) {
        return fmt::format("\"{}\": {}; write a size like 4, 64KiB or 1MiB", text, error.what());
      }
    },
    "SIZE");

// All backends that can be chosen. "gloo" is PyTorch's name for "host". "sim" cannot be chosen: simulated
// ranks have it anyway.
inline const CLI::IsMember a_backend({"auto", "host", "gloo", "cuda", "nccl", "mpi"});

}  // namespace distlab
