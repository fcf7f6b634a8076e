// The mismatch check. A Fingerprint is what must be equal on all ranks; MismatchCheck exchanges it
// and reports D2 or D3. Where sizes differ between ranks legitimately (all_to_all, scatter ...),
// check_traffic() compares them in pairs.
#include "dist/group/diagnosis/fingerprint.h"

#include <algorithm>
#include <cstring>

#include "dist/check/who.h"
#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/group/control.h"
#include "dist/group/job_state.h"

namespace dist {
namespace {

// How many elements a rank sends to and expects from each rank of the group; these must match in pairs.
struct Traffic {
  std::vector<std::int64_t> sends, expects;
};

Traffic traffic_of(const GroupState& group, const Operation& operation) {
  const auto n = static_cast<std::size_t>(group.size()), root = static_cast<std::size_t>(operation.root);
  Traffic traffic{std::vector<std::int64_t>(n), std::vector<std::int64_t>(n)};
  auto& [sends, expects] = traffic;
  switch (operation.kind) {
    case OpKind::scatter: expects[root] = operation.outputs[0].count; break;
    case OpKind::gather: sends[root] = operation.inputs[0].count; break;
    case OpKind::all_gather: sends.assign(n, operation.inputs[0].count); break;
    case OpKind::reduce_scatter: expects.assign(n, operation.outputs[0].count); break;
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
    for (std::size_t i = 0; i < n; ++i) sends[i] = operation.inputs[i].count;
  }
  const bool lists_outputs = operation.kind == OpKind::gather || operation.kind == OpKind::all_gather ||
                             operation.kind == OpKind::all_to_all;
  if (operation.outputs.size() == n && lists_outputs) {
    for (std::size_t i = 0; i < n; ++i) expects[i] = operation.outputs[i].count;
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

Traffic decode(std::string_view data, std::size_t n) {
  Traffic traffic{std::vector<std::int64_t>(n), std::vector<std::int64_t>(n)};
  const std::size_t half = n * sizeof(std::int64_t);
  data.remove_prefix(std::min(data.find('\0'), data.size() - 1) + 1);
  if (data.size() != 2 * half) fail(Errc::internal, "a fingerprint of {} bytes is damaged", data.size());
  std::memcpy(traffic.sends.data(), data.data(), half);
  std::memcpy(traffic.expects.data(), data.data() + half, half);
  return traffic;
}

// Two ranks of the group, and how many elements one sends and the other expects.
struct Pair {
  int from, to;
  std::int64_t sent, expected;
};

[[noreturn]] void fail_misfit(const GroupState& group, const Operation& operation,
                              const std::vector<ControlMessage>& messages, const Pair& pair) {
  const auto message_of = [&](int rank) -> const auto& { return messages[static_cast<std::size_t>(rank)]; };
  const int from = group.global_rank_of(pair.from), to = group.global_rank_of(pair.to);
  const auto bytes = [&](std::int64_t count) {
    return static_cast<std::uint64_t>(count) * size_of(operation.dtype());
  };
  const auto party = [&](int rank, bool sends, std::int64_t count) {
    return check::Party{group.global_rank_of(rank),
                        check::describe_message(name(operation.kind), sends, bytes(count), sends ? to : from),
                        CallSite::parse(message_of(rank).where),
                        {}};
  };
  const auto told = group.job->tell(
      check::explain_misfit({party(pair.from, true, pair.sent), party(pair.to, false, pair.expected),
                             bytes(pair.sent), bytes(pair.expected)}));
  fail(Errc::mismatch, "rank {}: {} #{}: rank {} at {} has {} for rank {}, which expects {} at {}{}",
       group.global_rank, name(operation.kind), operation.sequence, from, message_of(pair.from).where,
       counted(pair.sent, "element"), to, pair.expected, message_of(pair.to).where, told);
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
      fail_misfit(group, operation, messages, {static_cast<int>(from), static_cast<int>(to), sent, expected});
    }
  }
}

}  // namespace

Fingerprint::Fingerprint(const GroupState& group, const Operation& operation)
    : kind(operation.kind),
      sequence(operation.sequence),
      algorithm(operation.algorithm),
      part(operation.where.part ? operation.where.part : "") {
  const bool rooted = kind == OpKind::broadcast || kind == OpKind::reduce || kind == OpKind::scatter ||
                      kind == OpKind::gather;
  const bool reduces = kind == OpKind::reduce || kind == OpKind::all_reduce || kind == OpKind::reduce_scatter;
  if (reduces) op = operation.op.kind();
  if (kind != OpKind::barrier) dtype = operation.dtype();
  if (reduces || kind == OpKind::broadcast) count = operation.count();
  if (rooted) root = group.global_rank_of(operation.root);
}

std::string Fingerprint::str() const {
  const std::string way = algorithm.empty() ? "" : "by " + algorithm, of = part.empty() ? "" : " of " + part;
  if (kind == OpKind::barrier) return describe_call(name(kind), sequence, way) + of;
  std::string what = count < 0 ? std::string(name(dtype)) : Amount{count, dtype}.str();
  if (op != ReduceOp::Kind::sum) what += fmt::format(", {}", name(op));
  if (root >= 0) what += fmt::format(", root {}", root);
  if (!way.empty()) what += ", " + way;
  return describe_call(name(kind), sequence, what) + of;
}

check::Code kind_of_difference(Fingerprint a, const Fingerprint& b) {
  a.dtype = b.dtype;
  a.count = b.count;
  return a == b ? check::Code::misfit_message : check::Code::mismatched_collective;
}

void MismatchCheck::started(GroupState& group, const Operation& operation, const Plan&) {
  if (!is_collective(operation.kind)) return;
  const Fingerprint print(group, operation);
  // Sizes are left out, so that D2 and D3 can be told from each other.
  Fingerprint call = print;
  call.dtype = DType::u8;
  call.count = -1;
  const std::string sizeless = call.str();
  const ControlMessage mine{print.str(), operation.where.str(),
                            sizeless + '\0' + encode(traffic_of(group, operation)), operation.where};
  const ControlCall control{name(operation.kind), operation.where, operation.timeout};
  const auto exchanged = exchange_by_tag(group, control, fingerprint_tags | operation.sequence, mine);
  const auto& messages = exchanged->messages;
  if (!exchanged->agreed()) {
    std::vector<check::RankSays> said;
    std::vector<check::Party> parties;
    bool same_call = true;
    for (int i = 0; const auto& message : messages) {
      const int rank = group.global_rank_of(i++);
      same_call = same_call && message.data.starts_with(sizeless + '\0');
      said.push_back({rank, message.call, " at " + message.where});
      parties.push_back({rank, message.call, CallSite::parse(message.where), {}});
    }
    const auto code = same_call ? check::Code::misfit_message : check::Code::mismatched_collective;
    fail(Errc::mismatch, "rank {}: the ranks of {} are in different collectives: {}{}", group.global_rank,
         group.identity.name, check::who_says_what(said, "is in ", "are in "),
         group.job->tell(check::explain_difference(code, std::move(parties))));
  }
  check_traffic(group, operation, messages);
}

}  // namespace dist
