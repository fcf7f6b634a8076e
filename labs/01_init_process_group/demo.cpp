// Lab 01, the demonstration: four processes that know their node and their local rank, but nothing of each
// other, become one group. The processes are real; the nodes are simulated.
#include <random>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "dist/core/device.h"
#include "dist/dist.h"
#include "dist/store/tcp_store.h"

#include "init_process_group.h"
#include "story.h"

namespace {

using namespace std::chrono_literals;
using dist::Clock;

const std::vector<int> processes_per_node{3, 1};
const std::vector<std::string> hosts{"node-a", "node-b"};
const std::vector<std::pair<int, int>> seats{
    {0, 0}, {0, 1}, {0, 2}, {1, 0}};  // node and local rank of each process
constexpr int late_process = 3, processes = 4;

using story::say;

// Rank 0 prints the lines of all ranks, in rank order: every rank puts its line into the store.
void report(dist::Store& store, const lab::Place& place, const std::string& act, const std::string& line) {
  store.set(fmt::format("report/{}/{}", act, place.rank), line);
  if (place.rank != 0) return;
  for (int rank = 0; rank < place.world_size; ++rank) {
    say("   " + store.get_text(fmt::format("report/{}/{}", act, rank), dist::Deadline::after(10s)));
  }
}

int gpus_of_this_host() {
  try {
    return dist::device_api(dist::DeviceType::cuda).count();
  } catch (const dist::Error&) {
    return 0;
  }
}

void meet(const std::shared_ptr<dist::Store>& store, const lab::Place& place, const std::string& name) {
  if (place.rank == 0) say("\n2  Rendezvous: the last process is half a second late");
  const auto start = Clock::now();
  const auto members = lab::rendezvous(store, "story", place, name, 10s);
  const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
  report(*store, place, "meet",
         fmt::format("rank {} waited {:>3} ms and knows {}", place.rank, waited.count(),
                     fmt::join(members, ", ")));
}

void introduce(const std::shared_ptr<dist::Store>& store, const lab::Place& place, const std::string& host) {
  if (place.rank == 0) say("\n3  The group exists: every rank reads the 40 bytes of every rank");
  dist::init_process_group({.backend = "host",
                            .rank = place.rank,
                            .world_size = place.world_size,
                            .timeout = 20s,
                            .store = std::make_shared<dist::PrefixStore>("group", store)});
  const lab::Process process{::getpid(), host, gpus_of_this_host(), place};
  const auto texts = lab::exchange(lab::describe(process), 40);
  if (place.rank == 0) {
    for (std::size_t rank = 0; rank < texts.size(); ++rank)
      say(fmt::format("   rank {}: {}", rank, texts[rank]));
  }
  dist::destroy_process_group();
}

void miss_one(const std::shared_ptr<dist::Store>& store, const lab::Place& place) {
  if (place.rank == 0) say("\n4  Another job, in which one process never starts");
  if (place.rank == 2) return;
  try {
    lab::rendezvous(store, "another", place, "", 300ms);
    if (place.rank == 0) say("   rank 0 did not notice");
  } catch (const dist::Error& error) {
    if (error.code() != dist::Errc::timeout) throw;
    if (place.rank == 0) say(fmt::format("   {}", error.what()));
  }
}

void one_process(int number, const std::string& address, const std::string& token) {
  const auto [node, local_rank] = seats[static_cast<std::size_t>(number)];
  const auto& host = hosts[static_cast<std::size_t>(node)];
  const auto store = dist::make_tcp_store(address, token, dist::Deadline::after(10s));
  if (number == 0) say("1  Who am I? Each process knows its node and its local rank");
  const auto place = lab::place_of(processes_per_node, node, local_rank);
  report(*store, place, "who",
         fmt::format("{}, local rank {}  ->  rank {} of {}", host, local_rank, place.rank, place.world_size));

  if (number == late_process) dist::sleep(500ms);
  meet(store, place, fmt::format("{}/{}", host, local_rank));
  introduce(store, place, host);
  miss_one(store, place);
}

void story_of_the_lab() {
  std::random_device random;
  const auto token = fmt::format("{:08x}", random());
  const dist::StoreServer server(fmt::format("unix://@distlab-lab01-{:08x}", random()), token);
  dist::spawn(processes, [&](int number) { one_process(number, server.address(), token); });
}

}  // namespace

int main(int argc, char**) { return story::tell(argc, story_of_the_lab); }
