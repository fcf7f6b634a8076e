// The process of one rank in the grading of lab 13: it calls the graded functions as the grader's task says.
#include "judge/runner.h"

#include <algorithm>
#include <memory>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "dist/dist.h"

#include "distributed_sampler.h"

namespace {

using judge::attempt, judge::Json;

// Thrown when a reader keeps reading although no sample is left for it.
struct Starved {};

// A stream whose samples the grader has. It says "starved" to a reader that keeps reading although no sample
// is left for it.
class Hidden : public lab::Stream {
 public:
  explicit Hidden(std::int64_t number) : number_(number) {}

  std::optional<std::int64_t> next() override {
    const Json piece = judge::fetch({number_, given_});
    if (piece.is_string()) throw Starved{};
    if (piece.is_null()) return std::nullopt;
    ++given_;
    return piece.get<std::int64_t>();
  }
  std::int64_t given() const { return given_; }

 private:
  const std::int64_t number_;
  std::int64_t given_ = 0;
};

lab::SamplerOptions options_of(const Json& one, int rank) {
  return {one.at("samples"), one.at("ranks"), rank, one.at("shuffle"), one.at("seed"), one.at("drop_last")};
}

Json permutations(const Json& task) {
  Json answers = Json::array();
  for (const auto& one : task.at("cases"))
    answers.push_back(attempt([&] { return Json(lab::randperm(one.at("n"), one.at("seed"))); }));
  return answers;
}

// Every rank's sampler: [rank][epoch], each with its size and indices. In epoch -1, set_epoch() is not
// called.
Json shares(const Json& one) {
  Json ranks = Json::array();
  for (int rank = 0; rank < one.at("ranks"); ++rank) {
    lab::DistributedSampler sampler(options_of(one, rank));
    Json epochs = Json::array();
    for (const std::int64_t epoch : one.at("epochs")) {
      if (epoch >= 0) sampler.set_epoch(epoch);
      epochs.push_back({{"size", sampler.size()}, {"indices", sampler.indices()}});
    }
    ranks.push_back(epochs);
  }
  return ranks;
}

Json samplers(const Json& task) {
  Json answers = Json::array();
  for (const auto& one : task.at("cases")) answers.push_back(attempt([&] { return shares(one); }));
  return answers;
}

Json sizes(const Json& task) {
  Json answers = Json::array();
  for (const auto& one : task.at("cases"))
    answers.push_back(attempt([&] { return Json(lab::DistributedSampler(options_of(one, 0)).size()); }));
  return answers;
}

// What one reader takes, at most `at_most` samples: the samples, and how many the stream had given by then.
Json taken(const Json& one) {
  const std::int64_t at_most = one.at("at_most");
  const lab::Reader reader{one.at("rank"), one.at("ranks"), one.at("worker"), one.at("workers")};
  Hidden stream(one.at("stream"));
  lab::ShardedStream mine(stream, reader);
  Json got = Json::array(), given = Json::array();
  for (std::int64_t i = 0; i < at_most; ++i) {
    std::optional<std::int64_t> sample;
    try {
      sample = mine.next();
    } catch (const Starved&) {
      return {{"samples", got}, {"given", given}, {"starved", true}};
    }
    if (!sample) break;
    got.push_back(*sample);
    given.push_back(stream.given());
  }
  return {{"samples", got}, {"given", given}, {"ended", one.at("endless") || !mine.next().has_value()}};
}

Json readers(const Json& task) {
  Json answers = Json::array();
  for (const auto& one : task.at("cases")) answers.push_back(attempt([&] { return taken(one); }));
  return answers;
}

void one_step() {
  dist::Tensor gradient = dist::ones({1});
  dist::all_reduce(gradient);
}

// An epoch with a collective for every sample of this rank's sampler.
Json epoch_of_sampler(const Json& task) {
  dist::init_process_group();
  const lab::DistributedSampler sampler(options_of(task, dist::get_rank()));
  const auto indices = sampler.indices();
  for (std::size_t i = 0; i < indices.size(); ++i) one_step();
  return indices.size();
}

// The same for a stream. Its workers take turns until one of them has no more samples.
Json epoch_of_stream(const Json& task) {
  dist::init_process_group();
  const int workers = task.at("workers");
  std::vector<std::unique_ptr<Hidden>> copies;
  std::vector<lab::ShardedStream> loaders;
  for (int worker = 0; worker < workers; ++worker) {
    copies.push_back(std::make_unique<Hidden>(worker));
    loaders.emplace_back(*copies.back(),
                         lab::Reader{dist::get_rank(), dist::get_world_size(), worker, workers});
  }
  Json samples = Json::array();
  for (std::size_t turn = 0;; ++turn) {
    std::optional<std::int64_t> sample;
    try {
      sample = loaders[turn % loaders.size()].next();
    } catch (const Starved&) {
      throw std::runtime_error("next() reads on after the end of the stream");
    }
    if (!sample) return samples;
    samples.push_back(*sample);
    one_step();
  }
}

// run_epoch() on batches of this rank: which ones the steps got, and how many were requested by then.
Json epoch_of_batches(const Json& task, std::int64_t epoch) {
  const bool silent = task.at("silent");
  std::size_t asked = 0;
  bool too_often = false;
  Json seen = Json::array();
  const auto next = [&]() -> std::optional<std::int64_t> {
    too_often = too_often || asked > seen.size();
    const Json piece = judge::fetch({epoch, static_cast<std::int64_t>(asked++)});
    if (piece.is_null()) return std::nullopt;
    return piece.get<std::int64_t>();
  };
  const auto step = [&](std::int64_t batch) {
    seen.push_back(batch);
    if (!silent) one_step();
  };
  const auto steps = lab::run_epoch(next, step);
  return {{"steps", steps}, {"batches", seen}, {"asked_ahead", too_often}};
}

}  // namespace

int main() {
  return judge::serve([](const Json& task) -> Json {
    const std::string call = task.at("call");
    if (call == "randperm") return permutations(task);
    if (call == "sampler") return samplers(task);
    if (call == "size") return sizes(task);
    if (call == "reader") return readers(task);
    if (call == "epoch_of_sampler") return attempt([&] { return epoch_of_sampler(task); });
    if (call == "epoch_of_stream") return attempt([&] { return epoch_of_stream(task); });
    if (call == "run_epoch")
      return attempt([&] {
        dist::init_process_group();
        const Json first = epoch_of_batches(task, 0);
        return Json{first, epoch_of_batches(task, 1)};
      });
    throw std::logic_error("no such call: " + call);
  });
}
