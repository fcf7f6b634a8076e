// Reading and writing of the protocol's arguments, in pairs of put and get. Every get checks what a process
// claims and throws Error{connection} for values that cannot be.
#include "dist/simulate/remote/protocol.h"

#include <algorithm>
#include <bit>

namespace dist::sim {
namespace {

constexpr auto last_kind = OpKind::barrier;
constexpr auto last_op = ReduceOp::Kind::premul_sum;
constexpr std::size_t longest_name = 255;                   // of a file or an operation; it is kept
constexpr std::size_t longest_text = std::size_t{8} << 10;  // of a control call: 1024 ranks by number
constexpr std::uint32_t most_parties = 4096, most_views = 4096, most_copies = 4096;

// A text that is kept or passed on, within bounds.
std::string get_text(wire::Reader& from) {
  const std::string_view text = from.text();
  if (text.size() > longest_text)
    fail(Errc::connection, "a text has {} bytes; {} are allowed", text.size(), longest_text);
  return std::string(text);
}

// How many things follow, each of which is made before the next is read.
std::uint32_t get_count(wire::Reader& from, std::uint32_t most) {
  const auto count = from.get<std::uint32_t>();
  if (count > most) fail(Errc::connection, "{} were announced; {} are allowed", count, most);
  return count;
}
constexpr auto last_code = check::Code::different_replicas;

void put_views(wire::Writer& to, const std::vector<TensorView>& views) {
  to.put(static_cast<std::uint32_t>(views.size()));
  for (const TensorView& view : views) {
    to.put(reinterpret_cast<std::uintptr_t>(view.data)).put(view.count);
    put_enum(to, view.dtype);
  }
}

// Addresses of another process: they can be compared but not dereferenced.
std::vector<TensorView> get_views(wire::Reader& from) {
  std::vector<TensorView> views;
  for (auto n = get_count(from, most_views); n > 0; --n) {
    TensorView view;
    view.data = reinterpret_cast<std::byte*>(from.get<std::uintptr_t>());
    view.count = from.get<std::int64_t>();
    view.dtype = get_enum(from, DType::boolean);
    views.push_back(view);
  }
  return views;
}

}  // namespace

void put(wire::Writer& to, CallSite where) { to.put(std::string_view(where.str())); }

CallSite get_place(wire::Reader& from) { return CallSite::parse(from.text().substr(0, longest_name)); }

void put(wire::Writer& to, const Deadline& deadline) { to.put(deadline.when().time_since_epoch().count()); }

Deadline get_deadline(wire::Reader& from) {
  const Clock::duration since_epoch(from.get<Clock::rep>());
  return Deadline::at(Clock::time_point(since_epoch));
}

void put(wire::Writer& to, const std::vector<int>& numbers) {
  to.put(static_cast<std::uint32_t>(numbers.size()));
  for (const int number : numbers) to.put(number);
}

std::vector<int> get_numbers(wire::Reader& from) {
  std::vector<int> numbers;
  for (auto n = from.get<std::uint32_t>(); n > 0; --n) numbers.push_back(from.get<int>());
  return numbers;
}

Members get_members(wire::Reader& from, int world_size) {
  std::vector<int> ranks = get_numbers(from);
  std::vector<int> sorted = ranks;
  std::ranges::sort(sorted);
  const bool repeats = std::ranges::adjacent_find(sorted) != sorted.end();
  if (sorted.empty() || repeats || sorted.front() < 0 || sorted.back() >= world_size)
    fail(Errc::connection, "a list of {} ranks is not a group", ranks.size());
  return ranks;
}

void put(wire::Writer& to, const ControlMessage& message) {
  to.put(std::string_view(message.call))
      .put(std::string_view(message.where))
      .put(std::string_view(message.data));
  put(to, message.place);
}

ControlMessage get_control_message(wire::Reader& from) {
  ControlMessage message;
  message.call = get_text(from);
  message.where = get_text(from);
  message.data = get_text(from);
  message.place = get_place(from);
  return message;
}

void put(wire::Writer& to, const BoardCall& call) {
  to.put(call.context);
  put(to, call.members.list());
  to.put(call.tag);
  put(to, call.deadline);
  put(to, call.message);
}

BoardCall get_board_call(wire::Reader& from, int rank, int world_size) {
  BoardCall call;
  call.context = from.get<std::uint32_t>();
  call.members = get_members(from, world_size);
  call.rank = rank;
  call.tag = from.get<std::uint64_t>();
  call.deadline = get_deadline(from);
  call.message = get_control_message(from);
  if (!call.members.contains(rank)) fail(Errc::connection, "rank {} is not in that group", rank);
  return call;
}

void put(wire::Writer& to, const TransportOptions& options) {
  put(to, options.members.list());
  to.put(options.channel.context).put(options.channel.tag).put(options.channel.opcode);
  to.put(std::string_view(options.label.name)).put(options.label.sequence);
  to.put(options.label.what.count);
  put_enum(to, options.label.what.dtype);
  put(to, options.label.where);
  put_enum(to, options.mode);
  put(to, options.deadline);
}

TransportOptions get_transport_options(wire::Reader& from, int rank, int world_size) {
  TransportOptions options;
  options.members = get_members(from, world_size);
  options.channel.context = from.get<std::uint32_t>();
  options.channel.tag = from.get<std::uint64_t>();
  options.channel.opcode = from.get<std::uint32_t>();
  options.channel.point_to_point = true;  // collectives are asked for as such
  options.label.name = from.text().substr(0, longest_name);
  options.label.sequence = from.get<std::uint64_t>();
  options.label.what.count = from.get<std::int64_t>();
  options.label.what.dtype = get_enum(from, DType::boolean);
  options.label.where = get_place(from);
  options.mode = get_enum(from, SendMode::rendezvous);
  options.deadline = get_deadline(from);
  if (!options.members.contains(rank)) fail(Errc::connection, "rank {} is not in that group", rank);
  return options;
}

void put(wire::Writer& to, const check::Finding& finding) {
  put_enum(to, finding.code);
  to.put(std::string_view(finding.fix))
      .put(std::string_view(finding.what))
      .put(static_cast<std::uint32_t>(finding.parties.size()));
  for (const check::Party& party : finding.parties) {
    to.put(party.rank).put(std::string_view(party.doing));
    put(to, party.where);
    put(to, party.waits_for);
  }
}

check::Finding get_finding(wire::Reader& from) {
  check::Finding finding{get_enum(from, last_code), {}, {}, get_text(from)};
  finding.what = get_text(from);
  if (finding.code < check::Code::deadlock) fail(Errc::connection, "finding 0 is none");
  for (auto n = get_count(from, most_parties); n > 0; --n) {
    const auto rank = from.get<int>();
    const std::string doing = get_text(from);
    const CallSite where = get_place(from);
    finding.parties.push_back({rank, doing, where, get_numbers(from)});
  }
  return finding;
}

void put(wire::Writer& to, const Attendance& call) {
  const Fingerprint& print = call.fingerprint;
  to.put(call.group.first).put(call.group.second).put(call.group_size);
  put_enum(to, print.kind);
  put_enum(to, print.op);
  put_enum(to, print.dtype);
  to.put(print.root).put(print.count).put(print.sequence).put(std::string_view(print.algorithm));
  to.put(std::string_view(print.part));
  put(to, call.where);
}

Attendance get_attendance(wire::Reader& from) {
  Attendance call;
  call.group.first = from.get<std::uint32_t>();
  call.group.second = from.get<int>();
  call.group_size = from.get<int>();
  call.fingerprint.kind = get_enum(from, last_kind);
  call.fingerprint.op = get_enum(from, last_op);
  call.fingerprint.dtype = get_enum(from, DType::boolean);
  call.fingerprint.root = from.get<int>();
  call.fingerprint.count = from.get<std::int64_t>();
  call.fingerprint.sequence = from.get<std::uint64_t>();
  call.fingerprint.algorithm = get_text(from);
  call.fingerprint.part = get_text(from);
  call.where = get_place(from);
  return call;
}

void put(wire::Writer& to, const GroupCopies& mine) {
  const check::Copies& copies = mine.copies;
  to.put(mine.group.first).put(mine.group.second).put(mine.group_size);
  put_enum(to, copies.code);
  to.put(static_cast<std::uint8_t>(copies.is_summand)).put(std::string_view(copies.axis));
  to.put(std::string_view(copies.fix));
  put(to, copies.where);
  to.put(static_cast<std::uint32_t>(copies.names.size()));
  for (std::size_t i = 0; i < copies.names.size(); ++i) {
    const auto& [norm, projections, tolerance] = copies.sketches[i];
    to.put(std::string_view(copies.names[i]));
    for (const float x : {norm, projections[0], projections[1], projections[2], tolerance})
      to.put(std::bit_cast<std::uint32_t>(x));
  }
}

GroupCopies get_group_copies(wire::Reader& from) {
  GroupCopies mine;
  mine.group.first = from.get<std::uint32_t>();
  mine.group.second = from.get<int>();
  mine.group_size = from.get<int>();
  mine.copies.code = get_enum(from, last_code);
  if (mine.copies.code < check::Code::deadlock) fail(Errc::connection, "finding 0 is none");
  mine.copies.is_summand = from.get<std::uint8_t>() != 0;
  mine.copies.axis = get_text(from);
  mine.copies.fix = get_text(from);
  mine.copies.where = get_place(from);
  for (auto n = get_count(from, most_copies); n > 0; --n) {
    mine.copies.names.push_back(get_text(from));
    auto& [norm, projections, tolerance] = mine.copies.sketches.emplace_back();
    for (float* const x : {&norm, &projections[0], &projections[1], &projections[2], &tolerance})
      *x = std::bit_cast<float>(from.get<std::uint32_t>());
  }
  if (mine.copies.names.empty()) fail(Errc::connection, "copies of nothing");
  return mine;
}

void put(wire::Writer& to, const trace::Call& call) {
  to.put(call.record).put(call.number);
  for (const bool flag : {call.point_to_point, call.async, call.may_reduce})
    to.put(static_cast<std::uint8_t>(flag));
  to.put(call.event.group).put(call.event.sequence).put(call.event.bytes);
  to.put(std::string_view(call.event.name)).put(std::string_view(call.event.algorithm));
  put(to, call.event.where);
  put_views(to, call.inputs);
  put_views(to, call.outputs);
}

trace::Call get_call(wire::Reader& from) {
  trace::Call call;
  call.record = from.get<std::uint64_t>();
  call.number = from.get<std::uint64_t>();
  for (bool* flag : {&call.point_to_point, &call.async, &call.may_reduce})
    *flag = from.get<std::uint8_t>() != 0;
  call.event.group = from.get<std::uint32_t>();
  call.event.sequence = from.get<std::uint64_t>();
  call.event.bytes = from.get<std::uint64_t>();
  call.event.name = get_text(from);
  call.event.algorithm = get_text(from);
  call.event.where = get_place(from);
  call.inputs = get_views(from);
  call.outputs = get_views(from);
  return call;
}

void put(wire::Writer& to, const CostModel& costs) {
  for (const double figure :
       {costs.alpha, costs.beta, costs.gamma, costs.overhead, costs.handshake, costs.copy, costs.segment,
        costs.near_alpha, costs.near_beta, costs.near_overhead, costs.cards})
    to.put(std::bit_cast<std::uint64_t>(figure));
}

CostModel get_costs(wire::Reader& from) {
  CostModel costs;
  for (double* figure :
       {&costs.alpha, &costs.beta, &costs.gamma, &costs.overhead, &costs.handshake, &costs.copy,
        &costs.segment, &costs.near_alpha, &costs.near_beta, &costs.near_overhead, &costs.cards})
    *figure = std::bit_cast<double>(from.get<std::uint64_t>());
  return costs;
}

}  // namespace dist::sim
