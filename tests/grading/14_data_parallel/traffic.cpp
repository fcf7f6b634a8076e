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

// The bytes of a rank's calls, by the operation's name.
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
  ADD_FAILURE() << fmt::format("{}: rank {} calls {}, which this part does not need", call, rank, name);
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
        misconception("gathers_everything_to_average",
                      "with all_gather every rank receives n lists of gradients to compute one: this takes "
                      "n/2 times the traffic and n times the memory; fix: use all_reduce");
      return tell_foreign(asked.call, rank, sums.begin()->first);
    }
    if (ours.calls <= calls && ours.bytes <= bytes) continue;
    if (ours.calls > calls && ours.bytes <= bytes + calls * one_number)
      misconception("a_count_for_each_tensor",
                    "the number of samples was sent with every tensor; fix: use one all_reduce of it, "
                    "because it is the same for all tensors");
    ADD_FAILURE() << fmt::format(
        "{}, {} tensors of {} bytes in all: rank {} may send {} bytes in {} calls of {}; it sent {} bytes in "
        "{} calls",
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
                    "the weights were sent in every step, but equal weights and equal gradients give equal "
                    "weights; fix: after the first broadcast send only gradients");
    else if (gradients.bytes >= 2 * steps * model)
      misconception("averages_weights_too",
                    "the weights were averaged together with the gradients; fix: leave them out, because "
                    "they are equal already, and the traffic is twice as large");
    ADD_FAILURE() << fmt::format(
        "train, {} steps, {} bytes of weights: rank {} may send {} bytes by broadcast and {} by all_reduce; "
        "it sent {} and {}",
        steps, model, rank, model, steps * (model + one_number), first.bytes, gradients.bytes);
    return;
  }
}

void expect_server_traffic(const Training& training) {
  const auto done = run(training);
  for (const auto& built_in : done.built_ins)
    misconception(
        "collectives_for_a_server",
        fmt::format("dist::{} distributes the work over all ranks, which is better and is used in lab 15; "
                    "fix: in this part use send and recv, with the server at one end of every message",
                    built_in.name));
  const auto replies = done.answers();
  if (replies.empty()) return;
  for (const auto& link : done.report.links) {
    if (link.src == 0 || link.dst == 0 || link.bytes == 0) continue;
    ADD_FAILURE() << fmt::format(
        "train_with_server: rank {} sends to rank {}; every message must have the server, rank 0, at one end",
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
                    "a worker sends its weights, too; fix: send gradients only, because the server has the "
                    "same weights");
    ADD_FAILURE() << fmt::format(
        "train_with_server on {} ranks, {} steps, {} bytes of weights: rank {} may send {} bytes; it sent {}",
        training.ranks(), steps, model, rank, most, sent);
    return;
  }
}

}  // namespace lab14
