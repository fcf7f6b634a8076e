#include "board.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <span>

#include <fmt/format.h>

#include "dist/core/deadline.h"
#include "dist/core/error.h"

namespace distrun {
namespace {

constexpr std::array<std::string_view, 3> ends{"failure", "joins", "finished"};  // by End

}  // namespace

std::string Board::key(const std::string& name) const { return fmt::format("distrun/{}/{}", run_id, name); }
std::string Board::key(int attempt, const std::string& name) const {
  return fmt::format("distrun/{}/attempt{}/{}", run_id, attempt, name);
}

bool Board::has(const std::string& key) const { return store->check(std::span(&key, 1)); }

End Board::decide(int attempt, End mine) const {
  const auto word = ends[static_cast<std::size_t>(mine)];
  const auto agreed = dist::to_string(store->compare_set(key(attempt, "why"), {}, dist::to_bytes(word)));
  return static_cast<End>(std::ranges::find(ends, agreed) - ends.begin());
}

void Board::tell(int attempt, const std::string& what) const {
  if (most == 1) return;
  try {
    decide(attempt, End::failed);
    const std::string text = fmt::format("node {}: {}", node_rank, what);
    store->compare_set(key(attempt, "failure"), {}, dist::to_bytes(text));
  } catch (const dist::Error&) {
    // the node that hosted the store is gone; every node notices that by itself
  }
}

std::optional<std::string> Board::lost_node(bool or_left) const {
  for (int node = 0; node < static_cast<int>(members.size()); ++node) {
    const std::string gone = key("gone" + members[static_cast<std::size_t>(node)]);
    if (node == node_rank || !has(gone)) continue;
    const bool left = store->get_text(gone, dist::Deadline::after(std::chrono::seconds(1))) == has_left;
    if (left && !or_left) continue;
    return fmt::format("node {} {}", node, left ? "has left the job" : "is lost: its distrun has ended");
  }
  return std::nullopt;
}

bool Board::is_joined(int attempt) const {
  return nodes < most && store->add(key(attempt, "waiting"), 0) > 0;
}

std::optional<std::string> Board::failure_elsewhere(int attempt) const {
  if (most == 1) return std::nullopt;
  try {
    std::optional<std::string> seen;
    if (has(key(attempt, "failure")))
      seen = store->get_text(key(attempt, "failure"), dist::Deadline::after(std::chrono::seconds(1)));
    else
      seen = lost_node();
    if (!seen && !is_joined(attempt)) return std::nullopt;
    switch (decide(attempt, seen ? End::failed : End::joins)) {
      case End::joins: return std::string(a_node_joins);
      case End::finished: return std::nullopt;
      case End::failed: break;
    }
    const bool is_ours = seen && seen->starts_with(fmt::format("node {}:", node_rank));
    return is_ours ? std::nullopt : seen;  // none: the node that has decided is about to say more
  } catch (const dist::Error& error) {
    return fmt::format("{} ({})", store_is_lost, error.what());
  }
}

bool Board::all_have(int attempt, const std::string& mark) const {
  std::vector<std::string> marks;
  for (int node = 0; node < nodes; ++node) marks.push_back(key(attempt, fmt::format("{}{}", mark, node)));
  return store->check(marks);
}

}  // namespace distrun
