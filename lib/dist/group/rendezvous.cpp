#include "dist/group/rendezvous.h"

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <sstream>

#include <unistd.h>

#include "dist/core/fail.h"
#include "dist/core/log.h"
#include "dist/group/rendezvous_plan.h"
#include "dist/group/rendezvous_store.h"
#include "dist/store/host_id.h"

namespace dist {
namespace {

// The protocol. Every rank claims its number and states its world size; whoever sees a contradiction, sees
// its time run out, or completes the number of ranks, proposes a verdict. The first verdict stands, and all
// ranks wait for it.
constexpr const char* world_size_key = "world_size";
constexpr const char* joined_key = "joined";
constexpr const char* verdict_key = "verdict";

constexpr Timeout last_look =
    std::chrono::seconds(2);  // for the others to read why it failed, when rank 0 keeps it

std::string random_hex() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device(), device());
}

std::string this_process() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return fmt::format("process {} on {}", getpid(), host.data());
}

// What a rank publishes under its number; one line each.
struct Claim {
  std::string nonce, host, process;
  std::string text() const { return fmt::format("{}\n{}\n{}", nonce, host, process); }
  static Claim parse(const std::string& text) {
    Claim claim;
    std::istringstream lines(text);
    std::getline(lines, claim.nonce);
    std::getline(lines, claim.host);
    std::getline(lines, claim.process);
    return claim;
  }
};

// "ok <token> <host of rank 0> <host of rank 1> ...", or the number of an Errc and what happened.
struct Verdict {
  std::string text;

  static Verdict good(const std::string& token, const std::vector<int>& hosts) {
    std::string text = "ok " + token;
    for (int host : hosts) text += fmt::format(" {}", host);
    return {text};
  }
  static Verdict bad(Errc code, const std::string& why) {
    return {fmt::format("{} {}", static_cast<int>(code), why)};
  }

  void read_into(Job& job) const {
    std::istringstream in(text);
    std::string word;
    in >> word;
    if (word != "ok") throw Error(static_cast<Errc>(std::stoi(word)), text.substr(word.size() + 1));
    in >> job.token;
    job.hosts.clear();
    for (int host; in >> host;) job.hosts.push_back(host);
  }
};

class Meeting {
 public:
  Meeting(const Job& job, Deadline deadline)
      : rank_(job.rank),
        size_(job.world_size),
        timeout_(job.timeout),
        store_(*job.store),
        deadline_(deadline) {}

  Verdict hold() {
    claim_rank();
    compare_world_size();
    if (store_.add(joined_key, 1) == size_) return propose(Verdict::good(random_hex(), hosts()));
    try {
      return {store_.get_text(verdict_key, deadline_)};
    } catch (const Error& error) {
      if (error.code() != Errc::timeout) throw;
    }
    return propose(Verdict::bad(Errc::timeout, describe_missing()));
  }

 private:
  Verdict propose(const Verdict& verdict) {
    return {to_string(store_.compare_set(verdict_key, {}, to_bytes(verdict.text)))};
  }

  // For contradictions: ours is an error in any case, even when the others had agreed before we came.
  [[noreturn]] void object(const std::string& why) {
    propose(Verdict::bad(Errc::mismatch, why));
    throw Error(Errc::mismatch, why);
  }

  void claim_rank() {
    const Claim mine{random_hex(), host_id(), this_process()};
    const auto there = to_string(store_.compare_set(join_key(rank_), {}, to_bytes(mine.text())));
    if (there == mine.text()) return;
    object(fmt::format(
        "two processes claim to be rank {}: {} and {}; give each its own rank, and each job a store of "
        "its own (this one is {}{})",
        rank_, Claim::parse(there).process, mine.process, store_.where(),
        store_.where().starts_with("file:") ? ": remove it if an earlier run left it behind" : ""));
  }

  void compare_world_size() {
    const std::string mine = fmt::format("{} {}", size_, rank_);
    const auto there = to_string(store_.compare_set(world_size_key, {}, to_bytes(mine)));
    int size = 0, rank = 0;
    std::istringstream(there) >> size >> rank;
    if (size == size_) return;
    object(fmt::format(
        "rank {} was told that the world size is {}, rank {} that it is {}; start all ranks with the "
        "same WORLD_SIZE",
        rank, size, rank_, size_));
  }

  std::vector<int> hosts() {
    std::map<std::string, int> numbers;
    std::vector<int> hosts;
    for (int r = 0; r < size_; ++r) {
      const auto id = Claim::parse(store_.get_text(join_key(r), deadline_)).host;
      hosts.push_back(numbers.try_emplace(id, static_cast<int>(numbers.size())).first->second);
    }
    return hosts;
  }

  std::string describe_missing() {
    constexpr int shown = 16;
    int missing = 0;
    std::string names;
    for (int r = 0; r < size_; ++r) {
      const std::string keys[]{join_key(r)};
      if (store_.check(keys)) continue;
      if (++missing <= shown) names += fmt::format("{}{}", missing > 1 ? ", " : "", r);
    }
    if (missing > shown) names += fmt::format(" and {} more", missing - shown);
    if (missing == 0) return "all ranks had come, but one of them died while joining";
    return fmt::format(
        "{} of {} ranks joined within {} ms at {}; missing: rank{} {}; {} started, and with the same address "
        "and world "
        "size?",
        size_ - missing, size_, std::chrono::duration_cast<std::chrono::milliseconds>(timeout_).count(),
        store_.where(), missing > 1 ? "s" : "", names, missing > 1 ? "were they" : "was it");
  }

  int rank_, size_;
  Timeout timeout_;
  Store& store_;
  Deadline deadline_;
};

// What the launcher did not say about this host, from where the ranks are.
void find_local_rank(Job& job, const LaunchInfo& launch) {
  const int here = job.hosts.at(static_cast<std::size_t>(job.rank));
  const auto before = job.hosts.begin() + job.rank;
  job.local_rank = launch.local_rank;
  job.local_world_size = launch.local_world_size;
  if (job.local_rank < 0) job.local_rank = static_cast<int>(std::count(job.hosts.begin(), before, here));
  if (job.local_world_size < 0) job.local_world_size = static_cast<int>(std::ranges::count(job.hosts, here));
}

// Rank 0, if it keeps the store, waits for the others: those that have joined, or all.
void part(Job& job, bool from_all, Deadline deadline) noexcept {
  try {
    if (job.server) {
      std::vector<std::string> farewells;
      for (int r = 1; r < job.world_size; ++r) {
        const std::string joined[]{join_key(r)};
        if (from_all || job.store->check(joined)) farewells.push_back(gone_key(r));
      }
      job.base->wait(farewells, deadline);
    } else if (job.kept_by_rank_0) {
      job.store.reset();
      // The last handle's end says it by itself (see LastWill); one that somebody still holds needs the word.
      if (job.base.use_count() > 1) job.base->set(gone_key(job.rank), "left");
    }
  } catch (const std::exception& error) {
    log(LogLevel::info, "rank {}: leaving the store: {}", job.rank, error.what());
  }
  job.store.reset();
  job.base.reset();
  job.server.reset();
}

}  // namespace

Job rendezvous(const InitOptions& options, RankContext& context, const GetEnv& get_env) {
  const RendezvousPlan plan = plan_rendezvous(options, context, get_env);
  const Deadline deadline = Deadline::after(plan.timeout);
  Job job;
  job.rank = plan.launch.rank;
  job.world_size = plan.launch.world_size;
  job.restart_count = plan.launch.restart_count;
  job.launcher = plan.launch.launcher;
  job.timeout = plan.timeout;
  job.kept_by_rank_0 = plan.kept_by_rank_0();
  try {
    OpenedStore opened = open_store(plan, context.generation, deadline);
    job.server = std::move(opened.server);
    job.base = std::move(opened.store);
    job.generation = opened.generation;
    context.generation = job.generation + 1;
    job.store = meeting_place(job.base, job.restart_count, job.generation);
    Meeting(job, deadline).hold().read_into(job);
  } catch (const Error& error) {
    // After a timeout who has not come will not come; a contradiction may have been found before all came.
    part(job, error.code() == Errc::mismatch, Deadline::after(last_look));
    throw Error(error.code(), fmt::format("rank {}: init_process_group: {}", plan.launch.rank, error.what()));
  }
  find_local_rank(job, plan.launch);
  return job;
}

void cancel_rendezvous(const std::shared_ptr<Store>& base, int restart_count,
                       const std::string& why) noexcept {
  try {
    const std::string verdict = Verdict::bad(Errc::peer_failed, why).text;
    for (int generation = 0;; ++generation) {  // those that have a verdict are over
      const auto place = meeting_place(base, restart_count, generation);
      if (to_string(place->compare_set(verdict_key, {}, to_bytes(verdict))) == verdict) return;
    }
  } catch (const std::exception& error) {
    log(LogLevel::info, "cannot tell the other ranks that {}: {}", why, error.what());
  }
}

void leave(Job& job, Deadline deadline) noexcept { part(job, false, deadline); }

}  // namespace dist
