// The rendezvous. Meeting is one rank's part of a joining: it claims its number, states its world size, and
// waits for the verdict (rendezvous_plan.h); rendezvous() opens the store, meets the others and fills in
// the Job. part() and leave() say goodbye, and rank 0 keeps the store until the others have.
#include "dist/group/join/rendezvous.h"

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <sstream>

#include <unistd.h>

#include "dist/core/fail.h"
#include "dist/core/log.h"
#include "dist/group/join/missing_ranks.h"
#include "dist/store/host_id.h"

namespace dist {
namespace {

constexpr Timeout last_look =
    std::chrono::seconds(2);  // for the others to read why it failed, when rank 0 keeps it

std::string this_process() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return fmt::format("process {} on {}", getpid(), host.data());
}

// What a rank publishes under its number, one item per line.
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

// The world size that was stated first, and by which rank: "4 0".
struct StatedSize {
  int world_size = 0, by = 0;
  std::string text() const { return fmt::format("{} {}", world_size, by); }
  static StatedSize parse(const std::string& text) {
    StatedSize stated;
    std::istringstream(text) >> stated.world_size >> stated.by;
    return stated;
  }
};

// One rank's part in a joining; the protocol is described in rendezvous_plan.h.
class Meeting {
 public:
  Meeting(const Job& job, Deadline deadline)
      : job_(job), rank_(job.rank), size_(job.world_size), store_(*job.store), deadline_(deadline) {}

  Verdict hold() {
    claim_rank();
    compare_world_size();
    if (store_.add(joined_key, 1) == size_) return Verdict::good(random_word(), hosts()).propose(store_);
    if (const auto verdict = without_those_who_ended(*job_.base, store_, job_)) verdict->propose(store_);
    try {
      return {store_.get_text(verdict_key, deadline_)};
    } catch (const Error& error) {
      if (error.code() != Errc::timeout) throw;
    }
    return Verdict::bad(Errc::timeout, describe_missing(job_)).propose(store_);
  }

 private:
  // For contradictions: this rank's is an error in any case, even when the others had agreed before it came.
  [[noreturn]] void object(const std::string& why) {
    Verdict::bad(Errc::mismatch, why).propose(store_);
    throw Error(Errc::mismatch, why);
  }

  void claim_rank() {
    const Claim mine{random_word(), host_id(), this_process()};
    const auto there = to_string(store_.compare_set(join_key(rank_), {}, to_bytes(mine.text())));
    if (there == mine.text()) return;
    object(fmt::format(
        "two processes claim to be rank {}: {} and {}; give each its own rank, and each job a store of "
        "its own (this one is {}{})",
        rank_, Claim::parse(there).process, mine.process, store_.where(),
        store_.where().starts_with("file:") ? ": remove it if an earlier run left it behind" : ""));
  }

  void compare_world_size() {
    const std::string mine = StatedSize{size_, rank_}.text();
    const auto first = StatedSize::parse(to_string(store_.compare_set(world_size_key, {}, to_bytes(mine))));
    if (first.world_size == size_) return;
    object(fmt::format(
        "rank {} was told that the world size is {}, rank {} that it is {}; start all ranks with the "
        "same WORLD_SIZE",
        first.by, first.world_size, rank_, size_));
  }

  std::vector<int> hosts() {
    std::map<std::string, int> numbers;
    std::vector<int> hosts;
    std::vector<std::string> keys;
    for (int r = 0; r < size_; ++r) keys.push_back(join_key(r));
    for (const Bytes& claim : store_.multi_get(keys, deadline_)) {
      const auto id = Claim::parse(to_string(claim)).host;
      hosts.push_back(numbers.try_emplace(id, static_cast<int>(numbers.size())).first->second);
    }
    return hosts;
  }

  const Job& job_;
  const int rank_, size_;
  Store& store_;
  Deadline deadline_;
};

// Finds out, from where the ranks are, what the launcher did not say about this host.
void find_local_rank(Job& job, const LaunchInfo& launch) {
  const int here = job.hosts.at(static_cast<std::size_t>(job.rank));
  const auto before = job.hosts.begin() + job.rank;
  job.local_rank = launch.local_rank;
  job.local_world_size = launch.local_world_size;
  if (job.local_rank < 0) job.local_rank = static_cast<int>(std::count(job.hosts.begin(), before, here));
  if (job.local_world_size < 0) job.local_world_size = static_cast<int>(std::ranges::count(job.hosts, here));
}

// Says goodbye. Rank 0, if it keeps the store, waits for the others: for those that have joined, or for all.
void part(Job& job, bool from_all, Deadline deadline) noexcept {
  try {
    if (job.server) {
      std::vector<std::string> farewells;
      for (int r = 1; r < job.world_size && !deadline.passed(); ++r) {
        const std::string joined[]{join_key(r)};
        if (from_all || job.store->check(joined)) farewells.push_back(gone_key(r));
      }
      job.base->wait(farewells, deadline);
    } else if (job.kept_by_rank_0) {
      job.store.reset();
      // The end of the last handle says it (see LastWill); where the program still holds one, it must be
      // written.
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

std::string random_word() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", device(), device(), device(), device());
}

Verdict Verdict::good(const std::string& token, const std::vector<int>& hosts) {
  std::string text = "ok " + token;
  for (int host : hosts) text += fmt::format(" {}", host);
  return {text};
}

Verdict Verdict::bad(Errc code, const std::string& why) {
  return {fmt::format("{} {}", static_cast<int>(code), why)};
}

Verdict Verdict::propose(Store& place) const {
  return {to_string(place.compare_set(verdict_key, {}, to_bytes(text)))};
}

void Verdict::read_into(Job& job) const {
  std::istringstream in(text);
  std::string word;
  in >> word;
  if (word != "ok") throw Error(static_cast<Errc>(std::stoi(word)), text.substr(word.size() + 1));
  in >> job.token;
  job.hosts.clear();
  for (int host; in >> host;) job.hosts.push_back(host);
}

Job rendezvous(const InitOptions& options, RankContext& context, const GetEnv& get_env, CallSite where) {
  const RendezvousPlan plan = plan_rendezvous(options, context, get_env, where);
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
    // After a timeout, missing ranks will not come; a contradiction may have been found before all have
    // arrived.
    part(job, error.code() == Errc::mismatch, Deadline::after(last_look));
    throw Error(error.code(), fmt::format("rank {}: init_process_group at {}: {}", plan.launch.rank,
                                          where.str(), error.what()));
  }
  find_local_rank(job, plan.launch);
  return job;
}

void leave(Job& job, Deadline deadline) noexcept { part(job, false, deadline); }

}  // namespace dist
