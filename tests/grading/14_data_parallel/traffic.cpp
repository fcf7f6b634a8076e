// Lab 14: what each scheme sends.
#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support.h"

namespace lab14 {
namespace {

using judge::misconception;

constexpr std::uint64_t one_number = 8;

struct Sum {
  std::size_t calls = 0;
  std::uint64_t bytes = 0;
};

// What a rank's calls carried, by the operation's name.
std::map<std::string, Sum> calls_of(const judge::SimRun& done, int rank) {
  std::map<std::string, Sum> sums;
  for (const auto& event : done.report.trace.events) {
    if (event.kind != dist::trace::Kind::call || event.rank != rank) continue;
    ++sums[event.name].calls;
    sums[event.name].bytes += event.bytes;
  }
  return sums;
}

void tell_foreign(const std::string& call, int rank, const std::string& name) {
  ADD_FAILURE() << fmt::format("{}: rank {} calls {}, which this step does without", call, rank, name);
}

}  // namespace

void expect_calls(const Asked& asked, const std::string& collective, std::uint64_t bytes, std::size_t calls) {
  const auto done = run(asked);
  if (answers(done).empty()) return;
  for (int rank = 0; rank < static_cast<int>(asked.numbers.size()); ++rank) {
    auto sums = calls_of(done, rank);
    const Sum ours = sums[collective];
    sums.erase(collective);
    if (!sums.empty()) {
      if (sums.begin()->first.starts_with("all_gather"))
        misconception(
            "gathers_everything_to_average",
            "with all_gather every rank gets n lists of gradients, to make one of them: n/2 times the "
            "traffic and n times the memory");
      return tell_foreign(asked.call, rank, sums.begin()->first);
    }
    if (ours.calls <= calls && ours.bytes <= bytes) continue;
    if (ours.calls > calls && ours.bytes <= bytes + calls * one_number)
      misconception("a_count_for_each_tensor",
                    "the number of samples was sent with every tensor: it is the same for all, and one "
                    "all_reduce of it is enough");
    ADD_FAILURE() << fmt::format(
        "{}, {} tensors of {} bytes in all: rank {} may send {} bytes in {} calls of {}; it sent {} in {}",
        asked.call, asked.form.shapes.size(), asked.form.bytes(), rank, bytes, calls, collective, ours.bytes,
        ours.calls);
    return;
  }
}

void expect_train_traffic(const Training& training) {
  const auto done = run(training);
  if (answers(done).empty()) return;
  const auto steps = static_cast<std::uint64_t>(training.steps()), model = training.form.bytes();
  for (int rank = 0; rank < training.ranks(); ++rank) {
    auto sums = calls_of(done, rank);
    const Sum first = sums["broadcast"], gradients = sums["all_reduce"];
    sums.erase("broadcast"), sums.erase("all_reduce"), sums.erase("barrier");
    if (!sums.empty()) return tell_foreign("train", rank, sums.begin()->first);
    if (first.bytes <= model && gradients.bytes <= steps * (model + one_number)) continue;
    if (first.bytes >= steps * model)
      misconception("broadcasts_every_step",
                    "the weights were sent in every step: equal weights and equal gradients give equal "
                    "weights, so after the first time there is nothing to send but gradients");
    else if (gradients.bytes >= 2 * steps * model)
      misconception("averages_weights_too",
                    "with the gradients the weights were averaged as well: they are equal already, and the "
                    "traffic is twice as large");
    ADD_FAILURE() << fmt::format(
        "train, {} steps, {} bytes of weights: rank {} may send {} bytes by broadcast and {} by all_reduce; "
        "it "
        "sent {} and {}",
        steps, model, rank, model, steps * (model + one_number), first.bytes, gradients.bytes);
    return;
  }
}

void expect_server_traffic(const Training& training) {
  const auto done = run(training);
  for (const auto& built_in : done.built_ins)
    misconception(
        "collectives_for_a_server",
        fmt::format("dist::{} spreads the work over all ranks. That is the better way, and the next "
                    "lab's; here one rank holds the truth and every message has it at one end",
                    built_in.name));
  const auto replies = done.answers();
  if (replies.empty()) return;
  for (const auto& link : done.report.links) {
    if (link.src == 0 || link.dst == 0 || link.bytes == 0) continue;
    ADD_FAILURE() << fmt::format(
        "train_with_server: rank {} sends to rank {}; every message has the server, rank 0, at one end",
        link.src, link.dst);
    return;
  }
  const auto steps = static_cast<std::uint64_t>(training.steps()), model = training.form.bytes();
  const auto others = static_cast<std::uint64_t>(training.ranks() - 1);
  for (int rank = 0; rank < training.ranks(); ++rank) {
    const auto sent = done.report.traffic[static_cast<std::size_t>(rank)].bytes_sent;
    const auto most = rank == 0 ? others * (steps + 1) * model : steps * (model + one_number);
    if (sent <= most) continue;
    if (rank > 0 && sent >= 2 * steps * model)
      misconception("sends_weights_too",
                    "a worker sends its weights along: the server has them, they are its own");
    ADD_FAILURE() << fmt::format(
        "train_with_server on {} ranks, {} steps, {} bytes of weights: rank {} may send {} bytes; it sent {}",
        training.ranks(), steps, model, rank, most, sent);
    return;
  }
}

}  // namespace lab14
