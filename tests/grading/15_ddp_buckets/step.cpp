// Lab 15, parts 4 and 5: the end of a backward, and several backwards for one step.
#include <numeric>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support.h"

namespace lab15 {
namespace {

using judge::misconception;

// In these tests the grader has launched the buckets.
void diagnose_waits(const judge::SimRun& done) {
  using dist::check::Code;
  for (const auto& finding : done.report.findings) {
    if (finding.code == Code::read_before_wait || finding.code == Code::never_waited)
      misconception("forgets_a_wait",
                    "a bucket was launched and finish() did not wait for it; fix: wait for every Work, even "
                    "if all seem to end in order, and also before finish() throws");
  }
}

// finish() with the first buckets launched: the ranks' replies.
std::vector<Json> finished(const Model& model, const Values& values, std::size_t launched) {
  std::vector<Json> tasks;
  for (std::size_t rank = 0; rank < values.size(); ++rank) {
    tasks.push_back(task_of("finish", {.model = model}, rank));
    tasks.back().update({{"values", values[rank]}, {"launched", launched}});
  }
  const auto done = run(tasks, true);
  diagnose_waits(done);
  return answers(done);
}

std::vector<Json> ends_of(const std::vector<Json>& replies) {
  std::vector<Json> ends;
  for (const auto& reply : replies) ends.push_back(reply.at("ends"));
  return ends;
}

// Several small batches: the tasks and the expected results.
struct Accumulation {
  Play play;
  std::vector<Json> tasks;
  Values sums;
};

Accumulation draw_accumulation(judge::Random& random, int ranks, int batches, Play play) {
  Accumulation drawn{std::move(play), {}, {}};
  const double before = random.between(100, 900);  // in all elements of all gradients
  const auto gradients = drawn.play.model.counts.size();
  drawn.sums.assign(static_cast<std::size_t>(ranks), std::vector<double>(gradients, before));
  for (std::size_t rank = 0; rank < drawn.sums.size(); ++rank) {
    drawn.tasks.push_back(task_of("accumulate", drawn.play, rank));
    drawn.tasks.back().update({{"before", before}, {"syncs_before", true}, {"fails_in", -1}});
  }
  for (int batch = 0; batch < batches; ++batch) {
    const auto values = draw_values(random, ranks, drawn.play.model);
    for (std::size_t rank = 0; rank < values.size(); ++rank) {
      drawn.tasks[rank]["batches"].push_back(values[rank]);
      for (std::size_t i = 0; i < gradients; ++i) drawn.sums[rank][i] += values[rank][i];
    }
  }
  return drawn;
}

// The pattern in an element is added with every batch; it is the same on all ranks.
std::vector<Json> without_pattern(std::vector<Json> ends, const Model& model, int batches) {
  for (auto& of_rank : ends)
    for (std::size_t i = 0; i < model.counts.size(); ++i)
      of_rank[i][1] =
          of_rank[i][1].get<double>() - (batches - 1) * static_cast<double>((model.counts[i] - 1) % 3);
  return ends;
}

// A backward that sends nothing launches nothing, and finish() may mistake this for missing gradients.
bool threw(const Json& reply, std::size_t rank, int batches) {
  const Json& error = reply.at("error");
  if (error.is_null()) return false;
  const bool syncs = reply.at("syncs");
  if (!syncs)
    misconception("misses_what_is_silent",
                  "if syncs is false no bucket is launched, and none is missing; fix: let finish() do "
                  "nothing in this case");
  ADD_FAILURE() << fmt::format("rank {}: batch {} of {}, syncs is {}: accumulate() threw \"{}\"", rank,
                               reply.at("order").size(), batches, syncs, error.at("what").get<std::string>());
  return true;
}

bool sums_are_right(const std::vector<Json>& replies, const Accumulation& asked, int batches) {
  if (replies.empty()) return false;
  std::vector<int> order(static_cast<std::size_t>(batches));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    if (threw(replies[rank], rank, batches)) return false;
    if (replies[rank].at("order") != Json(order)) {
      ADD_FAILURE() << fmt::format(
          "rank {}: backward must be called for batches 0 to {}, in order; it was called for {}", rank,
          batches - 1, replies[rank].at("order").dump());
      return false;
    }
    if (replies[rank].at("syncs")) continue;
    misconception("stays_silent",
                  "syncs is still false afterwards, so the next backward would send nothing, and the ranks' "
                  "models would drift apart; fix: set it to true before the last batch");
    ADD_FAILURE() << fmt::format("rank {}: after accumulate() syncs must be true; it is false", rank);
    return false;
  }
  return are_means(without_pattern(ends_of(replies), asked.play.model, batches), asked.sums, asked.play.model,
                   fmt::format("after {} batches, whose gradients add up to those before", batches));
}

}  // namespace

void expect_finished(judge::Random& random, int ranks) {
  const auto model = draw_model(random, {1, 2, 1, 2}, 3000);
  const auto values = draw_values(random, ranks, model);
  const auto replies = finished(model, values, model.buckets.size());
  if (replies.empty()) return;
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    if (replies[rank].at("error").is_null()) continue;
    ADD_FAILURE() << fmt::format("rank {}: all buckets were launched, but finish() threw {}", rank,
                                 replies[rank].at("error").at("what").get<std::string>());
    return;
  }
  are_means(ends_of(replies), values, model, "after finish()");
}

void expect_missing_named(judge::Random& random, int ranks, std::size_t launched) {
  const auto model = draw_model(random, {1, 2, 1, 2}, 3000);
  const auto replies = finished(model, draw_values(random, ranks, model), launched);
  const auto name = fmt::format("bucket {}", launched);
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    const Json& error = replies[rank].at("error");
    const auto what = error.is_null() ? "" : error.at("what").get<std::string>();
    if (!error.is_null() && error.at("code") == "invalid_argument" && what.find(name) != std::string::npos)
      continue;
    if (error.is_null())
      misconception(
          "says_nothing_of_missing_buckets",
          "finish() returned normally although a gradient that was never computed has held its bucket back: "
          "the optimizer would take a step with gradients that were not averaged; fix: throw");
    ADD_FAILURE() << fmt::format(
        "rank {}, {} of {} buckets launched: finish() must throw Error{{invalid_argument}} with \"{}\" in "
        "its text; {}",
        rank, launched, model.buckets.size(), name,
        error.is_null() ? "it returned normally" : "it threw " + error.dump());
    return;
  }
}

void expect_accumulated(judge::Random& random, int ranks, int batches, bool syncs_before) {
  auto asked = draw_accumulation(random, ranks, batches, {.model = draw_model(random, {1, 2, 2}, 100)});
  for (Json& task : asked.tasks) task["syncs_before"] = syncs_before;
  sums_are_right(answers(run(asked.tasks, false)), asked, batches);
}

void expect_syncs_after_an_error(judge::Random& random, int ranks, int batches) {
  auto asked = draw_accumulation(random, ranks, batches, {.model = draw_model(random, {1, 2, 2}, 100)});
  const int fails_in = random.between(0, batches - 2);  // one that sends nothing
  for (Json& task : asked.tasks) task["fails_in"] = fails_in;
  const auto replies = answers(run(asked.tasks, false));
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    const Json& error = replies[rank].at("error");
    const bool reached = replies[rank].at("reached"), syncs = replies[rank].at("syncs");
    if (reached && syncs) continue;
    if (!syncs)
      misconception("silent_after_an_error",
                    "backward() threw in a batch that sends nothing, and syncs is still false, so the next "
                    "backward would send nothing; fix: set it to true also then, for instance in the "
                    "destructor of a local object");
    else if (!error.is_null())
      misconception("another_error",
                    "accumulate() threw an error of its own, so a caller that handles the one of backward() "
                    "does not see it; fix: do not catch it, or pass it on by `throw;`");
    const std::string what = reached           ? "it threw the same"
                             : error.is_null() ? "it returned normally"
                                               : "it threw another error, " + error.dump();
    ADD_FAILURE() << fmt::format(
        "rank {}, {} batches, and backward() throws in batch {}: accumulate() must throw the same, and syncs "
        "must be true; {}, and syncs is {}",
        rank, batches, fails_in, what, syncs);
    return;
  }
}

void expect_silence(judge::Random& random, int ranks, int batches) {
  Play play{.model = draw_model(random, {1, 2, 2}, 100), .timed = true};
  constexpr double each = 1e-3;
  play.seconds.assign(play.model.counts.size(), each);
  const auto asked = draw_accumulation(random, ranks, batches, play);
  const auto done = run(asked.tasks, true);
  if (!sums_are_right(answers(done), asked, batches)) return;
  const auto buckets = play.model.buckets.size();
  const double last_begins = (batches - 1) * each * static_cast<double>(play.model.counts.size());
  for (int rank = 0; rank < ranks; ++rank) {
    const auto calls = calls_of(done, rank);
    if (calls.size() == buckets && calls.front().at > last_begins) continue;
    if (calls.size() == buckets * static_cast<std::size_t>(batches))
      misconception("reduces_on_every_batch",
                    "the numbers are right, but every batch was sent, and each one costs traffic; fix: keep "
                    "syncs false until the last batch");
    ADD_FAILURE() << fmt::format(
        "rank {}, {} batches, {} buckets: expected {} all_reduces, all of them in the last backward; it "
        "called {}",
        rank, batches, buckets, buckets, calls.size());
    return;
  }
}

}  // namespace lab15
