// Control calls. exchange() swaps short texts between all members, on real ranks by messages
// (exchange_by_transport), among virtual ranks by their world, and compares what the ranks call. What is
// reported of such a call, and what is wrong with it, is in diagnosis/control_record.h.
#include "dist/group/control.h"

#include <algorithm>

#include "dist/core/fail.h"
#include "dist/group/diagnosis/control_record.h"
#include "dist/group/job_state.h"
#include "dist/group/join/virtual_world.h"

namespace dist {
namespace {

std::string encode(const ControlMessage& message) {
  std::string text = message.call;
  text += '\0';
  text += message.where;
  text += '\0';
  text += message.data;
  return text;
}

ControlMessage decode(const std::string& text) {
  const auto call_end = text.find('\0');
  const auto where_end = text.find('\0', call_end + 1);
  if (where_end == std::string::npos)
    fail(Errc::internal, "a control message of {} bytes is damaged", text.size());
  return {text.substr(0, call_end), text.substr(call_end + 1, where_end - call_end - 1),
          text.substr(where_end + 1)};
}

TensorView bytes_of(void* data, std::size_t bytes) {
  return {static_cast<std::byte*>(data), static_cast<std::int64_t>(bytes), DType::u8, cpu};
}

// Sends `out` to every other rank and receives ins[i] from each; returns the group ranks whose message did
// not come before the deadline.
std::vector<int> swap_with_all(Transport& net, TensorView out, std::span<const TensorView> ins,
                               Deadline deadline) {
  std::vector<std::pair<int, Request>> gets, puts;
  for (int distance = 1; distance < net.size(); ++distance) {
    const int from = mod(net.rank() - distance, net.size());
    gets.emplace_back(from, net.irecv(ins[static_cast<std::size_t>(from)], from));
  }
  for (int distance = 1; distance < net.size(); ++distance) {
    const int to = mod(net.rank() + distance, net.size());
    puts.emplace_back(to, net.isend(out, to));
  }
  std::vector<int> missing;
  const auto wait = [&](std::pair<int, Request>& transfer) {
    auto& [peer, request] = transfer;
    try {
      if (!deadline.passed() || request.is_completed()) {
        request.wait();
        return;
      }
    } catch (const Error& error) {
      if (error.code() != Errc::timeout) throw;
    }
    missing.push_back(peer);
  };
  for (auto& get : gets) wait(get);
  for (auto& put : puts) wait(put);
  std::ranges::sort(missing);
  missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
  return missing;
}

// The exchange by messages between all pairs of ranks.
std::shared_ptr<const Exchanged> exchange_by_transport(GroupState& group, const ControlCall& call,
                                                       std::uint64_t tag, const ControlMessage& mine) {
  const Deadline deadline = Deadline::after(call.timeout);
  TransportOptions options;
  options.members = group.identity.ranks;
  options.channel = {group.identity.context, tag, 0, false};
  options.label = {std::string(call.name), tag & (fingerprint_tags - 1), {}, call.where};
  options.deadline = deadline;
  const auto net = group.job->endpoint->open(std::move(options));

  const auto n = static_cast<std::size_t>(group.size());
  const auto swap = [&](TensorView out, std::span<const TensorView> ins) {
    std::vector<int> missing = swap_with_all(*net, out, ins, deadline);
    if (!missing.empty()) fail_absent(group, call, mine, missing);
  };
  std::string text = encode(mine);
  std::uint64_t size = text.size();
  std::vector<std::uint64_t> sizes(n);
  std::vector<TensorView> places(n);
  for (std::size_t i = 0; i < n; ++i) places[i] = bytes_of(&sizes[i], sizeof sizes[i]);
  swap(bytes_of(&size, sizeof size), places);

  std::vector<std::string> texts(n);
  for (std::size_t i = 0; i < n; ++i) {
    texts[i].resize(sizes[i]);
    places[i] = bytes_of(texts[i].data(), texts[i].size());
  }
  swap(bytes_of(text.data(), text.size()), places);
  auto exchanged = std::make_shared<Exchanged>();
  for (std::size_t i = 0; i < n; ++i) {
    exchanged->messages.push_back(static_cast<int>(i) == group.rank ? mine : decode(texts[i]));
  }
  return exchanged;
}

}  // namespace

bool Exchanged::agreed() const {
  if (agreed_ < 0) {
    const auto is_the_same = [&](const auto& other) { return other.call == messages[0].call; };
    agreed_ = std::ranges::all_of(messages, is_the_same) ? 1 : 0;
  }
  return agreed_ == 1;
}

std::shared_ptr<const Exchanged> exchange_by_tag(GroupState& group, const ControlCall& call,
                                                 std::uint64_t tag, const ControlMessage& mine) {
  const auto& virtual_world = group.job->context.virtual_world;
  if (!virtual_world) {
    if (group.size() > 1) return exchange_by_transport(group, call, tag, mine);
    auto alone = std::make_shared<Exchanged>();
    alone->messages = {mine};
    return alone;
  }
  std::vector<int> missing;
  auto exchanged = virtual_world->exchange({group.identity.context, group.identity.ranks, group.global_rank,
                                            tag, Deadline::after(call.timeout), mine},
                                           missing);
  if (!exchanged) fail_absent(group, call, mine, missing);
  return exchanged;
}

std::shared_ptr<const Exchanged> exchange(GroupState& group, const ControlCall& call,
                                          const ControlMessage& mine) {
  const std::uint64_t number = group.control_calls++;
  ControlRecord record(group, call, number);
  try {
    auto exchanged = exchange_by_tag(group, call, control_tags | number, mine);
    if (!exchanged->agreed()) {
      fail(Errc::mismatch, "rank {}: the ranks of {} disagree: {}", group.global_rank, group.identity.name,
           exchanged->once([&](const auto& messages) { return disagreement(group, call, messages); }));
    }
    record.completed();
    return exchanged;
  } catch (const Error& error) {
    record.failed(error);
  }
}

}  // namespace dist
