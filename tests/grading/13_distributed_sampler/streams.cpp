// Lab 13, part 4: what the workers of all ranks take from a stream.
#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ideas.h"
#include "judge/ask.h"
#include "judge/numbers.h"

namespace lab13 {
namespace {

using judge::misconception;

int readers_of(const Reading& asked) { return asked.ranks * asked.workers; }

std::string reader_text(const Reading& asked, int reader) {
  return fmt::format("worker {} of rank {}", reader % asked.workers, reader / asked.workers);
}

// A reader that gets nothing is stopped when it has read this many samples.
std::int64_t patience(const Reading& asked, std::int64_t each) {
  return 64 + 8 * readers_of(asked) * (each + 1) + std::max<std::int64_t>(asked.samples, 0);
}

// Copies of the stream, in the grader: the next sample of each one is what its reader asks for.
class Copies {
 public:
  Copies(const Reading& asked, std::int64_t patience) : asked_(asked), patience_(patience) {}
  Json next(std::int64_t copy) {
    constexpr std::int64_t most_after_the_end = 64;
    if (++requests_[copy] > patience_) return "starved";
    if (asked_.samples >= 0 && given_[copy] == asked_.samples)
      return ++after_the_end_[copy] > most_after_the_end ? Json("starved") : Json();
    return asked_.sample(given_[copy]++);
  }
  std::int64_t given(std::int64_t copy) const { return given_.contains(copy) ? given_.at(copy) : 0; }

 private:
  const Reading asked_;
  const std::int64_t patience_;
  std::map<std::int64_t, std::int64_t> requests_, given_, after_the_end_;
};

// Checks that a reader has read the samples of the stream that it returned.
bool check_was_read(const Reading& asked, int reader, const Json& reply) {
  const auto got = reply.at("samples").get<Indices>();
  const std::int64_t given = reply.at("read");
  const auto is_unread = [&](std::int64_t sample) { return asked.place(sample) >= given; };
  const auto unread = std::ranges::find_if(got, is_unread);
  if (unread == got.end()) return true;
  ADD_FAILURE() << fmt::format("{}: {} returned sample {} and has not read it; it has read {}", asked.text(),
                               reader_text(asked, reader), *unread, judge::counted(given, "sample"));
  return false;
}

// The answers of all readers, [rank * workers + worker]. "read" and the last number of "given" are what the
// grader has counted.
Json ask_readers(const Reading& asked, std::int64_t at_most) {
  Copies copies(asked, patience(asked, at_most));
  Json cases = Json::array();
  for (int reader = 0; reader < readers_of(asked); ++reader) {
    cases.push_back({{"text", asked.text() + ", " + reader_text(asked, reader)},
                     {"stream", reader},
                     {"endless", asked.samples < 0},
                     {"rank", reader / asked.workers},
                     {"ranks", asked.ranks},
                     {"worker", reader % asked.workers},
                     {"workers", asked.workers},
                     {"at_most", at_most}});
  }
  Json replies = judge::ask("reader", cases,
                            [&](int, const judge::Request& request) { return copies.next(request.of); });
  for (std::size_t reader = 0; reader < replies.size(); ++reader) {
    Json& reply = replies[reader];
    reply["read"] = copies.given(static_cast<std::int64_t>(reader));
    if (!reply.at("given").empty()) reply["given"].back() = reply["read"];
  }
  return replies;
}

Shares samples_of(const Json& replies) {
  Shares got;
  for (const auto& reply : replies) got.push_back(reply.at("samples").get<Indices>());
  return got;
}

// Checks that every sample of the stream was taken by exactly one reader.
bool check_each_once(const Reading& asked, const Shares& got) {
  std::vector<int> takers(static_cast<std::size_t>(asked.samples));
  for (const auto& mine : got) {
    for (const auto sample : mine) {
      const auto place = asked.place(sample);
      if (place < 0) {
        diagnose(asked, got);
        ADD_FAILURE() << fmt::format("{}: a reader got {}, which is not one of its samples, {}, {}, ..., {}",
                                     asked.text(), sample, asked.first, asked.sample(1),
                                     asked.sample(asked.samples - 1));
        return false;
      }
      ++takers[static_cast<std::size_t>(place)];
    }
  }
  const auto wrong = std::ranges::find_if(takers, [](int count) { return count != 1; });
  if (wrong == takers.end()) return true;
  diagnose(asked, got);
  ADD_FAILURE() << fmt::format(
      "{}: exactly one reader must take each sample; sample {} is taken by {} readers", asked.text(),
      asked.sample(wrong - takers.begin()), *wrong);
  return false;
}

bool check_each_has_a_share(const Reading& asked, const Shares& got) {
  const auto share = asked.samples / readers_of(asked);
  for (int reader = 0; reader < readers_of(asked); ++reader) {
    const auto& mine = got[static_cast<std::size_t>(reader)];
    if (std::ssize(mine) == share && std::ranges::is_sorted(mine)) continue;
    diagnose(asked, got);
    ADD_FAILURE() << fmt::format("{}: {} must get {}, in the order of the stream; it got {}, {}",
                                 asked.text(), reader_text(asked, reader), judge::counted(share, "sample"),
                                 mine.size(), text(mine));
    return false;
  }
  return true;
}

void diagnose_by_readers(const Reading& asked) {
  const auto replies = ask_readers(asked, asked.samples + 1);
  if (!replies.empty()) diagnose(asked, samples_of(replies));
}

}  // namespace

std::string Reading::text() const {
  return fmt::format("a stream {} ({}, {}, ...), {} with {} each",
                     samples < 0 ? "without end" : fmt::format("of {}", judge::counted(samples, "sample")),
                     first, sample(1), judge::counted(ranks, "rank"), judge::counted(workers, "worker"));
}

std::int64_t Reading::place(std::int64_t sample) const {
  const auto place = (sample - first) / step;
  const bool is_there = sample >= first && (samples < 0 || place < samples) && sample == this->sample(place);
  return is_there ? place : -1;
}

void expect_every_sample_once(const Reading& asked) {
  const auto replies = ask_readers(asked, asked.samples + 1);
  if (replies.empty()) return;
  for (std::size_t reader = 0; reader < replies.size(); ++reader)
    if (!check_was_read(asked, static_cast<int>(reader), replies[reader])) return;
  const auto got = samples_of(replies);
  if (!check_each_once(asked, got) || !check_each_has_a_share(asked, got)) return;
  for (int reader = 0; reader < readers_of(asked); ++reader) {
    if (replies[static_cast<std::size_t>(reader)].value("ended", false)) continue;
    ADD_FAILURE() << fmt::format(
        "{}: {} must return std::nullopt at the end of the stream, and in every later call", asked.text(),
        reader_text(asked, reader));
    return;
  }
}

void expect_no_reader_starves(const Reading& asked, int each) {
  const auto replies = ask_readers(asked, each);
  for (std::size_t reader = 0; reader < replies.size(); ++reader) {
    const auto who = reader_text(asked, static_cast<int>(reader));
    const auto mine = replies[reader].at("samples").get<Indices>();
    const auto given = replies[reader].at("given").get<Indices>();
    if (replies[reader].contains("starved") || std::ssize(mine) < each) {
      misconception("starved_workers", starved_in_words);
      ADD_FAILURE() << fmt::format("{}: {} must get {}; it has read {} of the stream and got {}",
                                   asked.text(), who, judge::counted(each, "sample"),
                                   judge::counted(patience(asked, each), "sample"), text(mine));
      return;
    }
    for (std::size_t i = 0; i < given.size(); ++i) {
      const auto most = static_cast<std::int64_t>(i + 1) * readers_of(asked);
      if (given[i] <= most) continue;
      misconception(
          "reads_ahead",
          "for one sample, the reader reads more of the stream than ranks * workers samples: on a live "
          "stream it would have to wait for them; fix: read no further than the reader's next sample");
      ADD_FAILURE() << fmt::format("{}: for {} {} has read {} of the stream; expected at most {}",
                                   asked.text(), judge::counted(i + 1, "sample"), who,
                                   judge::counted(given[i], "sample"), most);
      return;
    }
    if (!check_was_read(asked, static_cast<int>(reader), replies[reader])) return;
  }
}

void expect_ranks_agree(const Reading& asked) {
  judge::SimPlan plan;
  plan.about = asked.text() + ", with an all_reduce per sample";
  const Json task{{"call", "epoch_of_stream"}, {"workers", asked.workers}};
  plan.tasks.assign(static_cast<std::size_t>(asked.ranks), task);
  std::vector<Copies> copies(plan.tasks.size(), Copies(asked, patience(asked, asked.samples)));
  plan.hidden = [&](int rank, const judge::Request& request) {
    return copies[static_cast<std::size_t>(rank)].next(request.of);
  };
  const auto done = judge::simulate(plan);
  const auto reads_on = [](const auto& failure) {
    return failure.what.find("reads on") != failure.what.npos;
  };
  if (!done.report.ok() && std::ranges::none_of(done.report.failures, reads_on)) diagnose_by_readers(asked);
  const auto taken = done.answers({"all_reduce"});
  if (taken.empty()) return;
  const auto rounds = asked.samples / asked.ranks;
  std::vector<int> takers(static_cast<std::size_t>(rounds * asked.ranks));
  for (std::size_t rank = 0; rank < taken.size(); ++rank) {
    const auto mine = taken[rank].get<Indices>();
    bool one_of_each_round = std::ssize(mine) == rounds;
    for (std::int64_t round = 0; one_of_each_round && round < rounds; ++round) {
      const auto number = asked.place(mine[static_cast<std::size_t>(round)]);
      one_of_each_round =
          number >= 0 && number / asked.ranks == round && ++takers[static_cast<std::size_t>(number)] == 1;
    }
    if (one_of_each_round) continue;
    diagnose_by_readers(asked);
    ADD_FAILURE() << fmt::format(
        "{}: rank {} must get one sample of each of the {} whole rounds; its workers in turn took {}",
        asked.text(), rank, rounds, text(mine));
    return;
  }
}

}  // namespace lab13
