// Members: the ranks of a group. Copies share one list, because every operation carries it and a process may
// hold thousands of ranks.
#pragma once

#include <initializer_list>
#include <memory>
#include <vector>

namespace dist {

class Members {
 public:
  Members() = default;              // no rank
  Members(std::vector<int> ranks);  // global rank of each group rank
  Members(std::initializer_list<int> ranks) : Members(std::vector<int>(ranks)) {}
  // Ranks 0 to n-1. All copies that exist at the same time share one list.
  static Members everybody(int n);

  int size() const { return list_ ? static_cast<int>(list_->size()) : 0; }
  int operator[](int group_rank) const { return (*list_)[static_cast<std::size_t>(group_rank)]; }
  int group_rank_of(int global_rank) const;  // -1: not a member
  bool contains(int global_rank) const { return group_rank_of(global_rank) >= 0; }
  const std::vector<int>& list() const;

 private:
  std::shared_ptr<const std::vector<int>> list_;  // null: empty
};

}  // namespace dist
