#include "dist/launch/root_cause.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

namespace dist {
namespace {

// Removes everything up to and including the next "rank" or "ranks", as a whole word; false if there is none.
bool skip_to_rank_word(std::string_view& text) {
  constexpr std::string_view word = "rank";
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const bool starts = at == 0 || !std::isalnum(static_cast<unsigned char>(text[at - 1]));
    if (!starts) continue;
    text.remove_prefix(at + word.size());
    if (text.starts_with('s')) text.remove_prefix(1);
    return true;
  }
  return false;
}

std::optional<int> take_number(std::string_view& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

bool take(std::string_view& text, std::string_view separator) {
  if (!text.starts_with(separator)) return false;
  text.remove_prefix(separator.size());
  return true;
}

}  // namespace

std::vector<int> ranks_named(std::string_view text) {
  std::vector<int> result;
  while (skip_to_rank_word(text)) {
    if (!take(text, " ")) continue;
    do {
      const auto number = take_number(text);
      if (!number) break;
      result.push_back(*number);
    } while (take(text, ", ") || take(text, " and "));
  }
  return result;
}

std::size_t root_cause(std::span<const RankFailure> failures) {
  const auto follows = [&](const RankFailure& failure) {
    if (failure.blames_others) return true;
    const auto named = ranks_named(failure.last_words);
    return std::ranges::any_of(failures, [&](const RankFailure& other) {
      return other.rank != failure.rank && std::ranges::count(named, other.rank) > 0;
    });
  };
  const auto order = [&](const RankFailure& f) { return std::pair(follows(f), f.when); };
  const auto first = std::ranges::min_element(failures, {}, order);
  return static_cast<std::size_t>(first - failures.begin());
}

}  // namespace dist
