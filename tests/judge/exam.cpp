#include "judge/exam.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "judge/outcome.h"
#include "judge/progress.h"

namespace judge {
namespace {

std::uint64_t hash(std::string_view text) {  // FNV-1a: the same on every machine
  std::uint64_t value = 14695981039346656037ULL;
  for (const unsigned char byte : text) value = (value ^ byte) * 1099511628211ULL;
  return value;
}

// " (and so ranks 1, 2)" of {0, 1, 2}.
std::string alike(const std::vector<std::size_t>& ranks) {
  if (ranks.size() == 1) return "";
  return fmt::format(" (and so rank{} {})", ranks.size() == 2 ? "" : "s",
                     fmt::join(ranks.begin() + 1, ranks.end(), ", "));
}

// The first lines a rank printed, as an appendix to a failure.
std::string printed(const std::string& output) {
  if (output.empty()) return "";
  constexpr std::size_t enough = 600;
  return fmt::format("\nit printed: {}{}", output.substr(0, enough), output.size() > enough ? "..." : "");
}

}  // namespace

void worth(int points, int part) {
  progress().points = points;
  progress().part = part;
  testing::Test::RecordProperty("points", points);
  testing::Test::RecordProperty("part", part);
}

void misconception(std::string_view name, std::string_view in_words) {
  static const testing::TestInfo* diagnosed = nullptr;
  const auto* current = testing::UnitTest::GetInstance()->current_test_info();
  if (diagnosed == current) return;
  diagnosed = current;
  testing::Test::RecordProperty("hint", std::string(name));
  testing::Test::RecordProperty("hint_text", std::string(in_words));
}

bool has_completed(const Outcome& outcome, std::string_view who) {
  if (outcome.completed && outcome.fault.empty()) return true;
  if (!outcome.fault.empty()) {
    ADD_FAILURE() << fmt::format("{}'s process could not do what the grader asked for: {}", who,
                                 outcome.fault);
    return false;
  }
  ADD_FAILURE() << fmt::format("{} {}{}", who, outcome.how_it_ended, printed(outcome.output));
  return false;
}

// Ranks that ended alike are named together, with the first one.
bool all_completed(const std::vector<Outcome>& outcomes) {
  const auto are_alike = [](const Outcome& one, const Outcome& other) {
    return one.fault == other.fault && one.how_it_ended == other.how_it_ended && one.output == other.output;
  };
  bool all = true;
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
    const Outcome& outcome = outcomes[rank];
    if (outcome.completed && outcome.fault.empty()) continue;
    all = false;
    std::vector<std::size_t> ranks;
    for (std::size_t other = 0; other < outcomes.size(); ++other) {
      const bool has_failed = !outcomes[other].completed || !outcomes[other].fault.empty();
      if (has_failed && are_alike(outcome, outcomes[other])) ranks.push_back(other);
    }
    if (ranks.front() == rank) has_completed(outcome, fmt::format("rank {}{}", rank, alike(ranks)));
  }
  return all;
}

bool is_error(const Json& attempt) { return attempt.is_object() && attempt.contains("error"); }

bool is_todo(const Json& attempt) { return is_error(attempt) && attempt["error"].value("todo", false); }

Json value_of(const Json& attempt, std::string_view who) {
  if (attempt.is_object() && attempt.contains("value")) return attempt["value"];
  if (!is_error(attempt)) {
    ADD_FAILURE() << fmt::format("{} answered nothing that can be graded", who);
    return nullptr;
  }
  const auto text = attempt["error"].value("what", "");
  if (is_todo(attempt)) testing::Test::RecordProperty("todo", text);
  ADD_FAILURE() << (is_todo(attempt) ? text : fmt::format("{} ended with an error: {}", who, text));
  return nullptr;
}

std::string error_of(const Json& attempt, std::string_view code, std::string_view who,
                     std::string_view expected) {
  if (!is_error(attempt)) {
    ADD_FAILURE() << fmt::format("{} returned normally; expected {}", who, expected);
    return "";
  }
  if (is_todo(attempt)) {
    value_of(attempt, who);
    return "";
  }
  const auto text = attempt["error"].value("what", "");
  const auto thrown = attempt["error"].value("code", "");
  if (thrown == code) return text;
  ADD_FAILURE() << fmt::format("{} threw an error of the kind {} ({}); expected {}", who, thrown, text,
                               expected);
  return "";
}

Random::Random(std::string_view purpose) : engine_(seed() ^ hash(purpose)) {}

int Random::between(int low, int high) {
  const auto range = static_cast<std::uint64_t>(high - low) + 1;
  return low + static_cast<int>(engine_() % range);
}

std::string Random::word(int letters) {
  std::string text;
  for (int i = 0; i < letters; ++i) text += static_cast<char>(between('a', 'z'));
  return text;
}

std::string Random::bytes(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += static_cast<char>(between(0, 255));
  return text;
}

std::string shown(std::string_view bytes) {
  constexpr std::size_t enough = 80;  // columns
  std::string text;
  for (const unsigned char byte : bytes) {
    if (text.size() >= enough) return fmt::format("\"{}...\" ({} bytes)", text, bytes.size());
    const bool plain = byte >= 0x20 && byte != 0x7F && byte != '"' && byte < 0x80;
    text += plain ? std::string(1, static_cast<char>(byte)) : fmt::format("\\x{:02x}", byte);
  }
  return fmt::format("\"{}\"", text);
}

}  // namespace judge
