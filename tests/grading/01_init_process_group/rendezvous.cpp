// Lab 01, part 2: one job on the grader's store.
#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dist/store/socket.h"

#include "judge/outcome.h"
#include "judge/trouble.h"
#include "support.h"

namespace lab01 {
namespace {

using judge::misconception, judge::shown;
using namespace std::chrono_literals;

// How much later than its deadline an answer may come on a busy machine.
constexpr Milliseconds patience = 1500ms;

std::string nobody_knows() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

// Words that a reader can tell apart, and the other entries that the contract allows: an empty one, a long
// one, one with arbitrary bytes.
std::vector<std::string> make_entries(judge::Random& random, int world_size) {
  std::vector<std::string> entries;
  for (int rank = 0; rank < world_size; ++rank) entries.push_back("entry-" + random.word(8));
  if (world_size > 2) entries[1] = "";
  if (world_size > 3) entries[2] += random.word(6000);
  if (world_size > 4) entries[3] += std::string(1, '\0') + random.bytes(10);
  return entries;
}

// "... missing ranks: 2, 5" -> {2, 5}; {} if the text does not end like this.
std::vector<int> missing_in(const std::string& text) {
  const std::string_view marker = "missing ranks: ";
  const auto at = text.rfind(marker);
  std::vector<int> ranks;
  if (at == std::string::npos) return ranks;
  for (const char* p = text.c_str() + at + marker.size();
       std::isdigit(static_cast<unsigned char>(*p)) != 0;) {
    char* end = nullptr;
    ranks.push_back(static_cast<int>(std::strtol(p, &end, 10)));
    p = end + std::min<std::ptrdiff_t>(2, text.c_str() + text.size() - end);
  }
  return ranks;
}

void returns_before_all_joined() {
  misconception("returns_before_all_joined",
                "the group is complete only when every rank has published its entry; fix: wait for the "
                "entries of all ranks before collecting them");
}

void ignores_the_job() {
  misconception("ignores_the_job",
                "several jobs use the same store: under a key that does not begin with this job's name, this "
                "job reads the entries of another one; fix: use the key <job>/member/<rank>");
}

void a_deadline_for_each_wait() {
  misconception("a_deadline_for_each_wait",
                "the call took longer than its timeout, as if every wait had a timeout of its own; fix: make "
                "one deadline at the beginning and pass it to every wait");
}

void ignores_the_timeout() {
  misconception("ignores_the_timeout",
                "the call was still waiting long after its timeout: a rank that never comes would hang the "
                "job instead of being reported; fix: wait with a deadline made of `timeout`");
}

}  // namespace

Lobby::Lobby()
    : token_(nobody_knows()),
      server_("unix://@distlab-judge-" + nobody_knows(), token_),
      store_(dist::make_tcp_store(server_.address(), token_, dist::Deadline::after(10s))) {}

Json Lobby::address() const { return {{"store", fmt::format("fd://{}", judge::line_fd)}, {"token", token_}}; }

std::vector<dist::UniqueFd> Lobby::lines(int ranks) const {
  std::vector<dist::UniqueFd> connected;
  for (int rank = 0; rank < ranks; ++rank) {
    connected.push_back(dist::dial(dist::parse_address(server_.address()), dist::Deadline::after(10s)).fd);
    if (!connected.back()) throw judge::Trouble("the grader's store cannot be reached");
  }
  return connected;
}

JobRun::JobRun(Lobby& lobby, judge::Random& random, int world_size, Milliseconds timeout)
    : lobby_(lobby),
      job_(random.word(6)),
      entries_(make_entries(random, world_size)),
      started_(entries_.size(), false),
      timeout_(timeout),
      team_(judge::runner(), world_size, {.asleep = timeout + 4s}, lobby.lines(world_size)) {}

void JobRun::leave_out(judge::Random& random, int ranks) {
  std::vector<int> all(entries_.size());
  std::iota(all.begin(), all.end(), 0);
  random.shuffle(all);
  left_out_.assign(all.begin(), all.begin() + ranks);
  std::ranges::sort(left_out_);
}

void JobRun::start(int rank) {
  Json task{{"call", "rendezvous"},
            {"job", job_},
            {"entry", judge::to_hex(entry(rank))},
            {"timeout_ms", has_no_limit_ ? -1 : timeout_.count()},
            {"loses_store", loses_store_},
            {"place", {{"rank", rank}, {"local_rank", rank % 2}, {"world_size", world_size()}}}};
  task.update(lobby_.address());
  started_[static_cast<std::size_t>(rank)] = true;
  team_.start(rank, task);
}

void JobRun::start_all() {
  for (int rank = 0; rank < world_size(); ++rank) {
    if (!std::ranges::binary_search(left_out_, rank)) start(rank);
  }
}

void JobRun::play(int rank) { lobby_.store().set(key(rank), entry(rank)); }

bool JobRun::start_all_but(int late) {
  std::vector<int> early;
  for (int rank = 0; rank < world_size(); ++rank) {
    if (rank != late) early.push_back(rank);
  }
  for (const int rank : early) start(rank);
  return await_published(early);
}

bool JobRun::await_published(const std::vector<int>& ranks) {
  const auto deadline = dist::Deadline::after(std::min(timeout_, Milliseconds(3000)));
  for (const int rank : ranks) {
    while (!lobby_.has(key(rank)) && !team_.has_answered(rank) && !deadline.passed()) team_.listen(10ms);
    if (lobby_.has(key(rank))) continue;
    for (const auto& key : {fmt::format("member/{}", rank), std::to_string(rank)}) {
      if (lobby_.has(key)) ignores_the_job();
    }
    const auto instead = found_instead(rank);
    const auto outcomes = team_.finish();
    const auto& outcome = outcomes[static_cast<std::size_t>(rank)];
    if (judge::is_error(outcome.reply) && instead.empty()) {
      judge::value_of(outcome.reply, fmt::format("rank {}", rank));
    } else {
      ADD_FAILURE() << fmt::format(
          "rank {} called rendezvous, but its entry is not in the store under the key {}{}", rank, key(rank),
          instead);
    }
    return false;
  }
  return true;
}

// A store does not list its keys, so the likely ones are tried.
std::string JobRun::found_instead(int rank) {
  for (const auto* form :
       {"{}//member/{}", "/{}/member/{}", "{}/member/{}/", "{}/members/{}", "{}/member{}", "{}/{}",
        "{}member/{}", "{}/rank/{}", "{}{}", "member/{1}/{0}", "member/{1}", "{1}"}) {
    const auto key = fmt::format(fmt::runtime(form), job_, rank);
    if (lobby_.has(key)) return fmt::format("; the store has the key {} instead", key);
  }
  return "";
}

void JobRun::expect_nobody_has_returned(const std::string& before_what, const JobRun* other) {
  for (int rank = 0; rank < world_size(); ++rank) {
    if (!team_.has_answered(rank)) continue;
    const auto reply = team_.finish()[static_cast<std::size_t>(rank)].reply;
    const auto membership = judge::value_of(reply, fmt::format("rank {}", rank));
    if (membership.is_null()) return;
    other != nullptr && other->owns_one_of(membership) ? ignores_the_job() : returns_before_all_joined();
    ADD_FAILURE() << fmt::format("rank {} of {} returned from rendezvous before {}", rank, world_size(),
                                 before_what);
    return;
  }
}

bool JobRun::owns_one_of(const Json& membership) const {
  return std::ranges::any_of(entries_, [&](const auto& entry) {
    const Json mine = judge::to_hex(entry);
    return !entry.empty() && std::find(membership.begin(), membership.end(), mine) != membership.end();
  });
}

void JobRun::expect_membership() {
  const auto outcomes = team_.finish();
  for (int rank = 0; rank < world_size(); ++rank) {
    const auto& outcome = outcomes[static_cast<std::size_t>(rank)];
    if (!started_[static_cast<std::size_t>(rank)]) continue;
    if (!judge::has_completed(outcome, fmt::format("rank {} of {}", rank, world_size()))) return;
    check_membership(rank, outcome.reply);
    if (testing::Test::HasFailure()) return;
  }
}

void JobRun::check_membership(int rank, const Json& answer) {
  diagnose_missing(answer);
  const auto who = fmt::format("rank {} of {}", rank, world_size());
  const auto value = judge::value_of(answer, who);
  if (value.is_null()) return;
  if (value.size() != entries_.size()) {
    misconception("fixed_world_size",
                  "the membership has one element per rank, and the number of ranks is place.world_size: "
                  "another job has another size");
    ADD_FAILURE() << fmt::format("{} returned {} entries", who, value.size());
    return;
  }
  for (int other = 0; other < world_size(); ++other) {
    const auto got = judge::from_hex(value[static_cast<std::size_t>(other)].get<std::string>());
    if (got == entry(other)) continue;
    if (is_in_order_of_texts(value)) {
      misconception("ordered_as_text",
                    "the entries are sorted by rank as text, where 10 comes before 2; fix: put the entry of "
                    "rank r into element r, by number");
    }
    ADD_FAILURE() << fmt::format("{}: element {} of the membership must be rank {}'s entry {}; it is {}", who,
                                 other, other, shown(entry(other)), shown(got));
    return;
  }
}

bool JobRun::is_in_order_of_texts(const Json& membership) const {
  std::map<std::string, std::string> by_text;
  for (int rank = 0; rank < world_size(); ++rank) by_text[std::to_string(rank)] = judge::to_hex(entry(rank));
  return std::ranges::equal(by_text, membership,
                            [](const auto& one, const Json& got) { return got == one.second; });
}

// Recognizes a timeout error that reports ranks which this job does not have.
void JobRun::diagnose_missing(const Json& answer) {
  if (!judge::is_error(answer)) return;
  const auto missing = missing_in(answer["error"].value("what", ""));
  if (!missing.empty() && missing.back() >= world_size()) {
    misconception(
        "fixed_world_size",
        fmt::format(
            "the call waited for rank {} in a job of {} ranks: the number of ranks is place.world_size",
            missing.back(), world_size()));
  }
}

std::string JobRun::timeout_text(int rank, const judge::Outcome& outcome) {
  const auto who = fmt::format("rank {} of {}", rank, world_size());
  if (!judge::has_completed(outcome, who)) {
    ignores_the_timeout();
    return "";
  }
  const auto text = judge::error_of(
      outcome.reply, "timeout", who,
      fmt::format("Error{{timeout}} after {} ms, because not all ranks came in time", timeout_.count()));
  if (text.empty()) return "";
  // Only the time spent waiting counts: on a busy machine everything else takes longer, too.
  if (outcome.asleep > timeout_ + patience) {
    a_deadline_for_each_wait();
    ADD_FAILURE() << fmt::format("{} gave up after {} ms; its timeout was {} ms", who,
                                 outcome.answered_after.count(), timeout_.count());
    return "";
  }
  if (outcome.answered_after < timeout_ * 9 / 10) {
    ADD_FAILURE() << fmt::format("{} gave up after {} ms, before its timeout of {} ms had passed: {}", who,
                                 outcome.answered_after.count(), timeout_.count(), text);
    return "";
  }
  return text;
}

void JobRun::expect_missing_named() {
  const auto outcomes = team_.finish();
  for (int rank = 0; rank < world_size(); ++rank) {
    if (!started_[static_cast<std::size_t>(rank)]) continue;
    const auto text = timeout_text(rank, outcomes[static_cast<std::size_t>(rank)]);
    if (text.empty()) return;
    const auto wanted = fmt::format("missing ranks: {}", fmt::join(left_out_, ", "));
    if (text.ends_with(wanted)) continue;
    if (missing_in(text).size() == 1 && left_out_.size() > 1) {
      misconception("names_only_the_first",
                    "the search stops at the first missing rank; fix: report all missing ranks, because "
                    "whoever reads the message needs all of them");
    }
    ADD_FAILURE() << fmt::format("rank {} of {}: the error's text must end with {}; it is {}", rank,
                                 world_size(), shown(wanted), shown(text));
    return;
  }
}

// What a call does whose only other rank never comes: how the timeout that it misses is meant.
void JobRun::diagnose_a_missed_deadline() {
  constexpr Milliseconds timeout = 300ms;
  judge::Random random("deadline, nobody comes");
  JobRun alone(lobby_, random, 2, timeout);
  alone.start(0);
  const auto outcome = alone.team_.finish().at(0);
  if (!outcome.completed) return ignores_the_timeout();
  if (outcome.asleep < 2 * timeout) return a_deadline_for_each_wait();
  misconception(
      "longer_than_the_timeout",
      "the timeout is taken for a longer one, as if it were rounded up to whole seconds; fix: make the "
      "deadline of `timeout` as it is");
}

void JobRun::expect_too_late(int late) {
  const auto outcomes = team_.finish();
  for (int rank = 0; rank < world_size(); ++rank) {
    if (!started_[static_cast<std::size_t>(rank)]) continue;
    const auto& outcome = outcomes[static_cast<std::size_t>(rank)];
    if (outcome.completed && !judge::is_error(outcome.reply)) {
      const auto list = judge::value_of(outcome.reply, "rendezvous");
      const bool waited = list.size() == entries_.size() &&
                          list[static_cast<std::size_t>(late)] == judge::to_hex(entry(late));
      if (waited)
        diagnose_a_missed_deadline();
      else
        returns_before_all_joined();
    }
    const auto text = timeout_text(rank, outcome);
    if (text.empty()) return;
    const auto missing = missing_in(text);
    if (std::ranges::find(missing, late) != missing.end()) continue;
    ADD_FAILURE() << fmt::format("rank {} of {}: rank {} came too late, and the error does not name it: {}",
                                 rank, world_size(), late, text);
    return;
  }
}

void JobRun::expect_store_lost() {
  const auto outcomes = team_.finish();
  for (int rank = 0; rank < world_size(); ++rank) {
    const auto& outcome = outcomes[static_cast<std::size_t>(rank)];
    if (!started_[static_cast<std::size_t>(rank)]) continue;
    const auto who = fmt::format("rank {} of {}", rank, world_size());
    if (!judge::has_completed(outcome, who)) return;
    if (judge::is_error(outcome.reply) && outcome.reply["error"].value("code", "") != "timeout") continue;
    misconception("any_error_is_a_missing_rank",
                  "an error of the store itself was told as a rank that did not come; fix: catch errors with "
                  "the code timeout only, and let all others pass, because they say what is wrong");
    ADD_FAILURE() << fmt::format(
        "{}: the store was lost long before the timeout of {} ms; expected its own error, not {}", who,
        timeout_.count(), shown(outcome.reply.dump()));
    return;
  }
}

}  // namespace lab01
