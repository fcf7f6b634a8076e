// What leaves a rank's port when eight ranks sum 16 MiB, in MiB; and which chunks rank 2 of four moves in a
// ring.
#include <stdexcept>

#include <dist/dist.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dist/simulate/simulate_collective.h"
#include "dist/trace/messages.h"

namespace {

constexpr std::int64_t mib = 1 << 20;

// What leaves the ports of all eight ranks; as much comes in.
std::vector<std::uint64_t> ports(const std::string& algorithm) {
  const auto cost = dist::sim::simulate_collective(
      {.algorithm = algorithm, .ranks = 8, .bytes = 16 * mib, .links = true}, dist::sim::Topology::rounds());
  std::vector<std::uint64_t> out(8), in(8);
  for (const auto& link : cost.links) {
    out[static_cast<std::size_t>(link.src)] += link.bytes / mib;
    in[static_cast<std::size_t>(link.dst)] += link.bytes / mib;
  }
  if (out != in) throw std::runtime_error("in and out differ: the slide says that they do not");
  return out;
}

void steps_of(int rank) {
  constexpr int ranks = 4;
  dist::sim::RunOptions options;
  options.ranks = ranks;
  options.trace = true;
  const auto report = dist::sim::run(options, [](int) {
    dist::init_process_group();
    dist::Tensor data = dist::ones({ranks});
    dist::all_reduce(data, dist::ReduceOp::sum, {.algorithm = "ring"});
  });
  std::vector<std::int64_t> sent, arrived;
  for (const auto& message : dist::trace::messages(report.trace)) {
    const auto chunk = message.offset() / 4;
    if (message.source() == rank) sent.push_back(chunk);
    if (message.destination() == rank) arrived.push_back(chunk);
  }
  fmt::print("sends {}\narrives {}\n", fmt::join(sent, " "), fmt::join(arrived, " "));
}

}  // namespace

int main() {
  for (const std::string algorithm : {"reduce_broadcast", "naive_exchange", "ring"})
    fmt::print("{} {}\n", algorithm, fmt::join(ports(algorithm), " "));
  steps_of(2);
}
