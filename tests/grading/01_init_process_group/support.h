// What the grading of lab 01 is made of: the judge's store, one job of ranks on it, and the expected values.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "dist/store/tcp_store.h"

#include "judge/exam.h"
#include "judge/team.h"

namespace lab01 {

using judge::Json, judge::Milliseconds;

// One question to place_of().
struct Seat {
  std::vector<int> nodes;
  int node = 0, local_rank = 0;
};
std::vector<Seat> places_of(const std::vector<int>& nodes);  // of every process of these nodes
void expect_places(const std::vector<Seat>& cases);
void expect_refused(const std::vector<Seat>& cases);  // for there are no such processes

// One question to pack().
struct Packing {
  std::string text;
  std::int64_t size = 0;
};
void expect_descriptions(judge::Random& random);
void expect_packed(const std::vector<Packing>& cases);
void expect_unpacked(const std::vector<std::string>& tensors);
void expect_exchanged(judge::Random& random, int world_size);

// Asks one process, without a store or a group; one answer for each case.
Json ask_one(const Json& task);

// The store of one test, kept by the judge.
class Lobby {
 public:
  Lobby();
  Json address() const;  // what a runner needs to reach it by its line
  std::vector<dist::UniqueFd> lines(
      int ranks) const;  // a connection for each; where they run there is no network
  dist::Store& store() { return *store_; }
  std::string value(const std::string& key) {
    return store_->get_text(key, dist::Deadline::after(Milliseconds(0)));
  }
  bool has(const std::string& key) { return store_->check(std::vector{key}); }

 private:
  std::string token_;
  dist::StoreServer server_;
  std::shared_ptr<dist::Store> store_;
};

// One job: ranks with secret entries that call rendezvous(), as processes or played by the judge.
class JobRun {
 public:
  JobRun(Lobby& lobby, judge::Random& random, int world_size, Milliseconds timeout);

  int world_size() const { return static_cast<int>(entries_.size()); }
  const std::string& job() const { return job_; }
  const std::string& entry(int rank) const { return entries_.at(static_cast<std::size_t>(rank)); }
  std::string key(int rank) const { return fmt::format("{}/member/{}", job_, rank); }
  judge::Team& team() { return team_; }

  void leave_out(judge::Random& random, int ranks);  // so many ranks will never come
  void start(int rank);
  void start_all();     // but those left out
  void play(int rank);  // publishes its entry, as the process would
  // Starts all others and waits until each has published; false after a failure.
  bool start_all_but(int late);
  // Waits until these ranks have published. False, with a failure, when one answers before or does not
  // publish.
  bool await_published(const std::vector<int>& ranks);

  // `other`: a job on the same store, whose entries tell why somebody returned too early.
  void expect_nobody_has_returned(const std::string& before_what, const JobRun* other = nullptr);
  // These end the run: every started rank must have returned the whole membership, ...
  void expect_membership();
  // ... or have thrown the timeout that names the ranks left out, in time, ...
  void expect_missing_named();
  // ... or have thrown the timeout, `late` among the missing.
  void expect_too_late(int late);

 private:
  std::string timeout_text(int rank, const judge::Outcome& outcome);
  void check_membership(int rank, const Json& answer);
  bool owns_one_of(const Json& membership) const;
  bool is_in_order_of_texts(const Json& membership) const;
  bool ends_when_nobody_comes();
  std::string found_instead(int rank);
  void diagnose_missing(const Json& answer);

  Lobby& lobby_;
  std::string job_;
  std::vector<std::string> entries_;
  std::vector<bool> started_;
  std::vector<int> left_out_;
  Milliseconds timeout_;
  judge::Team team_;
};

}  // namespace lab01
