// A job of real processes forms, works, ends and forms again, while other processes send garbage, oversized
// frames, half greetings and silence at the port of its store.
#include <atomic>
#include <cstdlib>
#include <random>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dist/dist.h"

#include "unit/store/raw_client.h"

namespace dist::test {
namespace {

using namespace std::chrono_literals;

constexpr int ranks = 5, rounds = 3;

// One rank's whole life. Returns what went wrong, or nothing.
std::string live(int rank, const std::string& address) {
  try {
    for (int round = 0; round < rounds; ++round) {
      if (rank == ranks - 1) std::this_thread::sleep_for(150ms);  // the others wait amid the noise
      InitOptions options;
      options.backend = "host";
      options.init_method = address;
      options.rank = rank;
      options.world_size = ranks;
      options.timeout = 60s;
      init_process_group(options);
      auto t = full({7}, rank + 1);
      all_reduce(t);
      destroy_process_group();
      if (t.to_vector<int>() != std::vector<int>(7, ranks * (ranks + 1) / 2)) return "wrong sum: " + t.str();
    }
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

pid_t start(int rank, const std::string& address) {
  const pid_t child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const std::string problem = live(rank, address);
  if (!problem.empty()) fmt::print(stderr, "rank {}: {}\n", rank, problem);
  _exit(problem.empty() ? 0 : 1);
}

// Connections of all bad kinds, one after the other, until told to stop. Returns how many were made.
int make_noise(const std::string& address, unsigned seed, const std::atomic<bool>& stop) {
  std::mt19937 random(seed);
  std::vector<UniqueFd> silent;  // connected, and never a word
  int made = 0;
  while (!stop) {
    Dialled dialled = dial(parse_address(address), Deadline::after(1s));
    if (!dialled.fd) {
      std::this_thread::sleep_for(1ms);  // the store is not there yet, or is between two rounds
      continue;
    }
    ++made;
    std::string noise(random() % 5000, '\0');
    for (char& c : noise) c = static_cast<char>(random());
    const std::string oversized("\xff\xff\xff\x7f", 4);
    const Bytes greeting =
        wire::Writer().put(wire::magic).put(wire::version).put(std::string_view("guess")).finish();
    const std::string half = to_string(ConstBytes(greeting).first(random() % greeting.size()));
    const std::string texts[]{noise, oversized + noise, half, to_string(greeting) + noise};
    const auto& text = texts[static_cast<std::size_t>(made) % 4];
    ::send(dialled.fd.get(), text.data(), text.size(), MSG_NOSIGNAL);
    if (made % 8 == 0 && silent.size() < 100) silent.push_back(std::move(dialled.fd));
    std::this_thread::sleep_for(500us);
  }
  return made;
}

TEST(StoreGarbage, AJobFormsAndReformsAmidNoise) {
  setenv("DIST_LOG", "error", 1);  // the store reports every stranger; here they are too many
  const int port = local_port(listen_at(parse_address("tcp://127.0.0.1:0")).get());
  const std::string address = "tcp://127.0.0.1:" + std::to_string(port);
  std::vector<pid_t> children;
  for (int rank = 0; rank < ranks; ++rank) children.push_back(start(rank, address));
  std::atomic<bool> stop = false;
  std::atomic<int> made = 0;
  std::vector<std::thread> strangers;
  for (unsigned seed : {1u, 2u})
    strangers.emplace_back([&, seed] { made += make_noise(address, seed, stop); });
  for (std::size_t rank = 0; rank < children.size(); ++rank) {
    int status = -1;
    waitpid(children[rank], &status, 0);
    EXPECT_EQ(status, 0) << "rank " << rank;
  }
  stop = true;
  for (auto& stranger : strangers) stranger.join();
  EXPECT_GT(made, 20);
}

}  // namespace
}  // namespace dist::test
