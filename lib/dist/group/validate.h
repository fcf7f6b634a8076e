// Checks of a call's tensors. Each refuses a bad call, and says what is wrong and what would be right.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "dist/group/call.h"

namespace dist {

// A tensor argument and the name that the user knows it by: "t", "list".
struct Named {
  std::string_view name;
  const Tensor& tensor;
};
struct NamedList {
  std::string_view name;
  std::span<const Tensor> tensors;
};

bool share_memory(const Tensor& a, const Tensor& b);
void check_same_kind(const Call& call, const Named& a, const Named& b);  // dtype and device

// `list` has one defined tensor per rank of the group, each with the dtype and device of `like`.
void check_list(const Call& call, const NamedList& list, const Named& like);
// On this rank, list[rank] stands for `own`: both have the same number of elements.
void check_own_share(const Call& call, const NamedList& list, const Named& own);
void check_empty(const Call& call, const NamedList& list, std::string_view only_on, int root_global);

// No two tensors of the list share memory.
void check_disjoint(const Call& call, const NamedList& list);
// `one` shares no memory with the list, except that it may be list[this rank] itself.
void check_apart(const Call& call, const NamedList& list, const Named& one);
void check_apart(const Call& call, const NamedList& a, const NamedList& b);
// The same for the equal parts of `whole`, one per rank, instead of a list.
void check_apart_from_parts(const Call& call, const Named& whole, const Named& one);

}  // namespace dist
