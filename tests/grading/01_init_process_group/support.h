// What the grading of lab 01 is made of: the grader's store, a job of ranks that use it, and the expected
// values.
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

// The arguments of one call of place_of().
struct Seat {
  std::vector<int> nodes;
  int node = 0, local_rank = 0;
};
std::vector<Seat> places_of(const std::vector<int>& nodes);  // of every process of these nodes
void expect_places(const std::vector<Seat>& cases);
void expect_refused(const std::vector<Seat>& cases);  // because there are no such processes

// The arguments of one call of pack().
struct Packing {
  std::string text;
  std::int64_t size = 0;
};
void expect_descriptions(judge::Random& random);
void expect_packed(const std::vector<Packing>& cases);
void expect_unpacked(const std::vector<std::string>& tensors);
void expect_exchanged(judge::Random& random, int world_size);

// Sends the cases to one process that has neither a store nor a group; returns one answer per case.
Json ask_one(const Json& task);

// The store of one test, hosted by the grader.
class Lobby {
 public:
  Lobby();
  Json address() const;                                // what a runner needs to reach it over its connection
  std::vector<dist::UniqueFd> lines(int ranks) const;  // one connection per rank; the sandbox has no network
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

// One job: ranks with secret entries that call rendezvous(), as processes or played by the grader.
class JobRun {
 public:
  JobRun(Lobby& lobby, judge::Random& random, int world_size, Milliseconds timeout);

  int world_size() const { return static_cast<int>(entries_.size()); }
  const std::string& job() const { return job_; }
  const std::string& entry(int rank) const { return entries_.at(static_cast<std::size_t>(rank)); }
  std::string key(int rank) const { return fmt::format("{}/member/{}", job_, rank); }
  judge::Team& team() { return team_; }

  void leave_out(judge::Random& random, int ranks);  // this many ranks will never come
  void without_a_limit() { has_no_limit_ = true; }   // the ranks are given dist::no_timeout
  void lose_the_store() { loses_store_ = true; }     // whoever reads from it gets Error{connection}
  void start(int rank);
  void start_all();     // except those left out
  void play(int rank);  // publishes its entry, as the process would
  // Starts all others and waits until each has published; false after a failure.
  bool start_all_but(int late);
  // Waits until these ranks have published. Returns false, with a failure, if one answers before or does not
  // publish.
  bool await_published(const std::vector<int>& ranks);

  // `other`: a job on the same store; if its entries are in the result, they explain why a rank returned too
  // early.
  void expect_nobody_has_returned(const std::string& before_what, const JobRun* other = nullptr);
  // These end the run. Every started rank must have returned the whole membership, ...
  void expect_membership();
  // ... or have thrown in time the timeout error that names the ranks left out, ...
  void expect_missing_named();
  // ... or have thrown the timeout error with `late` among the missing ranks, ...
  void expect_too_late(int late);
  // ... or, without a store, its error.
  void expect_store_lost();

 private:
  std::string timeout_text(int rank, const judge::Outcome& outcome);
  void check_membership(int rank, const Json& answer);
  bool owns_one_of(const Json& membership) const;
  bool is_in_order_of_texts(const Json& membership) const;
  void diagnose_a_missed_deadline();
  std::string found_instead(int rank);
  void diagnose_missing(const Json& answer);

  Lobby& lobby_;
  std::string job_;
  std::vector<std::string> entries_;
  std::vector<bool> started_;
  std::vector<int> left_out_;
  Milliseconds timeout_;
  bool has_no_limit_ = false, loses_store_ = false;
  judge::Team team_;
};

}  // namespace lab01
