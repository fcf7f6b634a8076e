#include "dist/group/fingerprint.h"

#include <cstring>

#include "dist/core/fail.h"
#include "dist/group/control.h"
#include "dist/group/report.h"

namespace dist {
namespace {

// Elements that a rank sends to and expects from each rank of the group: what must fit in pairs.
struct Traffic {
  std::vector<std::int64_t> sends, expects;
};

Traffic traffic_of(const GroupState& group, const Operation& operation) {
  const auto n = static_cast<std::size_t>(group.size()), root = static_cast<std::size_t>(operation.root);
  Traffic traffic{std::vector<std::int64_t>(n), std::vector<std::int64_t>(n)};
  auto& [sends, expects] = traffic;
  switch (operation.kind) {
    case OpKind::scatter: expects[root] = operation.outputs[0].numel(); break;
    case OpKind::gather: sends[root] = operation.inputs[0].numel(); break;
    case OpKind::all_gather: sends.assign(n, operation.inputs[0].numel()); break;
    case OpKind::reduce_scatter: expects.assign(n, operation.outputs[0].numel()); break;
    case OpKind::send:
    case OpKind::recv:
    case OpKind::broadcast:
    case OpKind::reduce:
    case OpKind::all_reduce:
    case OpKind::all_to_all:
    case OpKind::barrier: break;
  }
  if (operation.inputs.size() == n && operation.kind != OpKind::gather &&
      operation.kind != OpKind::all_gather) {
    for (std::size_t i = 0; i < n; ++i) sends[i] = operation.inputs[i].numel();
  }
  const bool lists_outputs = operation.kind == OpKind::gather || operation.kind == OpKind::all_gather ||
                             operation.kind == OpKind::all_to_all;
  if (operation.outputs.size() == n && lists_outputs) {
    for (std::size_t i = 0; i < n; ++i) expects[i] = operation.outputs[i].numel();
  }
  return traffic;
}

std::string encode(const Traffic& traffic) {
  std::string data;
  for (const auto* counts : {&traffic.sends, &traffic.expects}) {
    data.append(reinterpret_cast<const char*>(counts->data()), counts->size() * sizeof(std::int64_t));
  }
  return data;
}

Traffic decode(const std::string& data, std::size_t n) {
  Traffic traffic{std::vector<std::int64_t>(n), std::vector<std::int64_t>(n)};
  const std::size_t half = n * sizeof(std::int64_t);
  if (data.size() != 2 * half) fail(Errc::internal, "a fingerprint of {} bytes is damaged", data.size());
  std::memcpy(traffic.sends.data(), data.data(), half);
  std::memcpy(traffic.expects.data(), data.data() + half, half);
  return traffic;
}

// "broadcast #7 (4 f32, root 2)": equal on all ranks when the call is the same. Where each rank has a size of
// its own only the dtype is compared here.
std::string text_of(const GroupState& group, const Operation& operation) {
  const bool rooted = operation.kind == OpKind::broadcast || operation.kind == OpKind::reduce ||
                      operation.kind == OpKind::scatter || operation.kind == OpKind::gather;
  const bool reduces = operation.kind == OpKind::reduce || operation.kind == OpKind::all_reduce ||
                       operation.kind == OpKind::reduce_scatter;
  const bool equal_counts = reduces || operation.kind == OpKind::broadcast;
  std::string text = fmt::format("{} #{}", name(operation.kind), operation.sequence);
  if (operation.kind == OpKind::barrier) return text;
  text += equal_counts ? fmt::format(" ({}", operation.what()) : fmt::format(" ({}", name(operation.dtype()));
  if (reduces && operation.op != ReduceOp::sum) text += fmt::format(", {}", name(operation.op.kind()));
  if (rooted) text += fmt::format(", root {}", group.global_rank_of(operation.root));
  return text + ')';
}

void check_traffic(const GroupState& group, const Operation& operation,
                   const std::vector<ControlMessage>& messages) {
  const auto n = messages.size();
  std::vector<Traffic> all;
  for (const auto& message : messages) all.push_back(decode(message.data, n));
  for (std::size_t from = 0; from < n; ++from) {
    for (std::size_t to = 0; to < n; ++to) {
      const auto sent = all[from].sends[to], expected = all[to].expects[from];
      if (sent == expected) continue;
      fail(Errc::mismatch,
           "rank {}: {} #{}: rank {} at {} has {} elements for rank {}, which expects {} at {}",
           group.global_rank, name(operation.kind), operation.sequence,
           group.global_rank_of(static_cast<int>(from)), messages[from].where, sent,
           group.global_rank_of(static_cast<int>(to)), expected, messages[to].where);
    }
  }
}

}  // namespace

void compare_fingerprints(GroupState& group, const Operation& operation) {
  const ControlMessage mine{text_of(group, operation), operation.where.str(),
                            encode(traffic_of(group, operation)), operation.where};
  const ControlCall call{name(operation.kind), operation.where, operation.timeout};
  const auto exchanged = exchange_by_tag(group, call, fingerprint_tags | operation.sequence, mine);
  const auto& messages = exchanged->messages;
  std::vector<RankSays> said;
  bool agreed = true;
  for (int i = 0; const auto& message : messages) {
    agreed = agreed && message.call == mine.call;
    said.push_back({group.global_rank_of(i++), message.call, " at " + message.where});
  }
  if (!agreed) {
    fail(Errc::mismatch, "rank {}: the ranks of {} are in different collectives: {}", group.global_rank,
         group.identity.name, who_says_what(said, "is in ", "are in "));
  }
  check_traffic(group, operation, messages);
}

}  // namespace dist
