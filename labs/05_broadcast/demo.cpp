// Lab 05, the demonstration: one rank's tensor is sent to seven others by three algorithms, a small one and a
// large one, in virtual time; and then new weights are sent from a trainer to its servers, by real processes.
//   ./distlab run 5
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "dist/core/fail.h"
#include "dist/dist.h"

#include "broadcast.h"
#include "story.h"

namespace {

using dist::Tensor;

constexpr int ranks = 8;
constexpr int root = 2;  // any rank would do
constexpr std::int64_t segment = 32 * 1024;

using story::in_bytes, story::say;

struct Way {
  const char* name;
  void (*broadcast)(Tensor& data);
};

constexpr Way ways[]{
    {"flat", [](Tensor& data) { lab::flat_broadcast(data, root); }},
    {"tree", [](Tensor& data) { lab::tree_broadcast(data, root); }},
    {"chain", [](Tensor& data) { lab::chain_broadcast(data, root, segment); }},
};

// A broadcast among virtual ranks. Throws unless every rank has the root's value afterwards.
dist::sim::Report simulate(const Way& way, std::int64_t elements, bool trace = false) {
  dist::sim::RunOptions options;
  options.ranks = ranks;
  options.trace = trace;
  return story::well(dist::sim::run(options, [&](int rank) {
    dist::init_process_group();
    auto data = dist::full({elements}, rank);
    way.broadcast(data);
    if (!dist::equal(data, dist::full({elements}, root)))
      dist::fail(dist::Errc::invalid_argument, "the {} broadcast left {} on rank {}; expected {} everywhere",
                 way.name, data.str(), rank, root);
  }));
}

void compare(std::int64_t elements) {
  say(fmt::format("\n   {:>7}  {:>11}  {:>21}  {:>21}", in_bytes(4 * static_cast<std::uint64_t>(elements)),
                  "time", "the root sends", "all ranks send"));
  for (const auto& way : ways) {
    const auto report = simulate(way, elements);
    const auto& sent = report.traffic[root];
    say(fmt::format("   {:>7}  {:>8.1f} us  {:>9} in {:>4} msg  {:>9} in {:>4} msg", way.name,
                    report.virtual_time_s * 1e6, in_bytes(sent.bytes_sent), sent.messages_sent,
                    in_bytes(story::bytes_sent(report)), report.messages));
  }
}

// Which rank sends to which, in the order in which the messages leave.
void draw_tree() {
  auto trace = simulate(ways[1], 1, true).trace;
  std::erase_if(trace.events, [](const auto& event) { return event.kind != dist::trace::Kind::send; });
  std::ranges::stable_sort(trace.events, {}, &dist::trace::Event::begin);
  std::string now, line;
  for (const auto& event : trace.events) {
    const auto when = fmt::format("   {:>5.1f} us  ", static_cast<double>(event.begin) * 1e-6);
    if (when != now && !line.empty()) say(std::exchange(line, ""));
    if (when != now) line = when;
    now = when;
    line += fmt::format("  {} -> {}", event.rank, event.peer);
  }
  say(line);
}

// The tensors of a small transformer: an embedding, and per layer four matrices and four vectors.
std::vector<Tensor> model(double value) {
  std::vector<Tensor> parameters{dist::full({100, 32}, value)};
  for (int layer = 0; layer < 4; ++layer) {
    for (const auto& shape : {dist::Shape{32, 96}, {32, 32}, {32, 64}, {64, 32}, {32}, {32}, {64}, {32}})
      parameters.push_back(dist::full(shape, value));
  }
  return parameters;
}

void update_servers(int rank) {
  dist::init_process_group();
  const std::vector<int> trainers{1, 0}, servers{2, 3, 4, 5};
  const bool is_trainer = rank < 2;
  auto parameters = model(is_trainer ? 7 : 6);
  const auto version = [&] {
    double low = 1e9, high = -1e9;
    for (const auto& parameter : parameters) {
      low = std::min(low, -dist::max(parameter * -1));
      high = std::max(high, dist::max(parameter));
    }
    return low == high ? fmt::format("version {}", low) : fmt::format("versions {} to {} mixed", low, high);
  };
  const auto before = version();
  lab::update_weights(parameters, trainers, servers, 8 * 1024);
  const auto lines = dist::gather_object(
      fmt::format("{}: {}, then {}", is_trainer ? "trainer" : "server", before, version()), 0);
  for (std::size_t i = 0; i < lines.size(); ++i) say(fmt::format("   rank {}, {}", i, lines[i]));
  dist::destroy_process_group();
}

void tell() {
  say(fmt::format(
      "1  From rank {} to {} other ranks: a small tensor and a large one, in the virtual time of a laptop",
      root, ranks - 1));
  compare(1);
  compare(1024 * 1024);
  say("\n2  The tree: the messages, and when they leave");
  draw_tree();
  std::int64_t elements = 0;
  const auto parameters = model(0);
  for (const auto& parameter : parameters) elements += parameter.numel();
  say(fmt::format(
      "\n3  New weights: {} tensors with {} elements in all, in buckets of 8192, on six processes",
      parameters.size(), elements));
  dist::spawn(6, update_servers);
}

}  // namespace

int main(int argc, char**) { return story::tell(argc, tell); }
