// The process of one rank in the grading of lab 15: a rank of the grader's simulation. It plays the backward
// of a model, which computes gradients in the order and in the time that the task says, and reports the
// results. Element j of a gradient is its value + j % 3.
#include "judge/runner.h"

#include <algorithm>
#include <functional>
#include <span>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "dist/core/fail.h"
#include "dist/core/todo.h"
#include "dist/dist.h"

#include "ddp_buckets.h"

namespace {

using dist::DType, dist::Tensor, judge::Json;

DType dtype_named(const std::string& name) {
  for (const DType dtype : dist::all_dtypes)
    if (dist::name(dtype) == name) return dtype;
  throw std::logic_error("no such dtype: " + name);
}

Tensor pattern(const dist::Shape& shape, DType dtype, double value) {
  Tensor t = dist::empty(shape, DType::f64);
  const auto elements = t.data<double>();
  for (std::size_t j = 0; j < elements.size(); ++j) elements[j] = value + static_cast<double>(j % 3);
  return t.to(dtype);
}

Json fill_buckets(const Json& task) {
  Json filled = Json::array();
  for (const auto& one : task.at("cases")) {
    std::vector<lab::Size> sizes;
    for (const auto& size : one.at("sizes"))
      sizes.push_back({size.at("bytes"), dtype_named(size.at("dtype"))});
    filled.push_back(lab::fill_buckets(sizes, one.at("limits")));
  }
  return filled;
}

// Whether the gradient is at its position in the bucket.
bool lies_in_its_bucket(const lab::Reducer& reducer, const std::vector<Tensor>& gradients, std::size_t i) {
  const auto& bucket = reducer.buckets.at(reducer.bucket_of.at(i));
  auto at = static_cast<const std::byte*>(bucket.memory.raw());
  for (const std::size_t member : bucket.members) {
    if (member == i) return gradients[i].raw() == at;
    at += gradients.at(member).nbytes();
  }
  return false;
}

bool shares_its_buckets_memory(const lab::Reducer& reducer, const Tensor& gradient, std::size_t i) {
  const Tensor& memory = reducer.buckets.at(reducer.bucket_of.at(i)).memory;
  const auto* const begin = static_cast<const std::byte*>(memory.raw());
  return gradient.raw() >= begin && gradient.raw() < begin + memory.nbytes();
}

Json make_reducer(const Json& task) {
  std::vector<Tensor> gradients;
  for (const auto& of : task.at("gradients"))
    gradients.push_back(pattern(of.at("shape"), dtype_named(of.at("dtype")), of.at("value")));
  std::vector<Tensor> before;
  for (const Tensor& gradient : gradients) before.push_back(gradient.clone());
  const auto reducer = lab::make_reducer(gradients, task.at("limits"));
  Json members = Json::array(), counts = Json::array(), seen = Json::array(), pending = Json::array();
  for (const auto& bucket : reducer.buckets) {
    members.push_back(bucket.members);
    counts.push_back(bucket.memory.shape());
    pending.push_back(bucket.pending);
  }
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const bool same_dtype = gradients[i].dtype() == before[i].dtype();
    const bool same_form = same_dtype && gradients[i].shape() == before[i].shape();
    seen.push_back({{"same_form", same_form},
                    {"same_dtype", same_dtype},
                    {"shares_its_buckets_memory", shares_its_buckets_memory(reducer, gradients[i], i)},
                    {"same_elements", same_form && dist::equal(gradients[i], before[i])},
                    {"in_its_bucket", lies_in_its_bucket(reducer, gradients, i)}});
  }
  return {{"members", members},
          {"counts", counts},
          {"pending", pending},
          {"bucket_of", reducer.bucket_of},
          {"gradients", seen}};
}

// A model whose gradients are in buckets as the task says.
struct Model {
  lab::Reducer reducer;
  std::vector<Tensor> gradients;

  explicit Model(const Json& task) {
    const std::vector<std::int64_t> counts = task.at("counts");
    gradients.resize(counts.size());
    reducer.bucket_of.resize(counts.size());
    for (const auto& members : task.at("buckets")) {
      lab::Bucket bucket{members, {}};
      std::int64_t count = 0;
      for (const std::size_t i : bucket.members) count += counts.at(i);
      bucket.memory = dist::zeros({count});
      std::int64_t at = 0;
      for (const std::size_t i : bucket.members) {
        gradients.at(i) = bucket.memory.narrow(at, counts[i]);
        at += counts[i];
        reducer.bucket_of.at(i) = reducer.buckets.size();
      }
      reducer.buckets.push_back(bucket);
    }
  }

  void add(std::size_t i, double value) {
    gradients[i].add_(pattern(gradients[i].shape(), DType::f32, value));
  }
  // The first and the last element of each gradient.
  Json ends() const {
    Json all = Json::array();
    for (const Tensor& gradient : gradients)
      all.push_back({gradient.data<float>().front(), gradient.data<float>().back()});
    return all;
  }
};

// Computes the first `count` gradients, in the task's order, and reports each as ready.
void play(Model& model, const Json& task, const Json& values, std::size_t count) {
  const std::vector<double> seconds = task.at("seconds");
  const std::vector<std::size_t> order = task.at("order");
  for (const std::size_t i : std::span(order).first(std::min(count, order.size()))) {
    model.add(i, values.at(i));
    dist::sim::compute(seconds.at(i));
    lab::ready(model.reducer, i);
  }
}

void play(Model& model, const Json& task, const Json& values) {
  play(model, task, values, model.gradients.size());
}

// One backward after another, the first of which fails after the number of gradients in "fails_after" (0:
// none fails).
Json backward(const Json& task) {
  Model model(task);
  Json ends = Json::array();
  if (const std::size_t ready = task.at("fails_after"); ready > 0) {
    lab::start(model.reducer);
    play(model, task, task.at("backwards").at(0), ready);
    for (auto& bucket : model.reducer.buckets) bucket.work.wait();
  }
  for (const auto& values : task.at("backwards")) {
    for (Tensor& gradient : model.gradients) gradient.zero_();
    lab::start(model.reducer);
    play(model, task, values);
    for (auto& bucket : model.reducer.buckets) bucket.work.wait();
    ends.push_back(model.ends());
  }
  return ends;
}

// What is thrown, as finish() should if gradients are missing; null if nothing is.
Json error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const dist::Todo&) {
    throw;
  } catch (const dist::Error& thrown) {
    return {{"code", dist::name(thrown.code())}, {"what", thrown.what()}};
  }
  return nullptr;
}

// The first buckets have been launched, and the others each miss a gradient; but if there are several of
// these, the last bucket is complete and waits for its turn.
Json finish(const Json& task) {
  Model model(task);
  auto& reducer = model.reducer;
  const std::vector<double> values = task.at("values");
  for (std::size_t i = 0; i < values.size(); ++i) model.add(i, values[i]);
  reducer.launched = task.at("launched");
  for (std::size_t i = 0; i < reducer.buckets.size(); ++i) {
    auto& bucket = reducer.buckets[i];
    const bool is_complete =
        i < reducer.launched || (i + 1 == reducer.buckets.size() && i > reducer.launched);
    bucket.pending = is_complete ? 0 : 1;
    if (i < reducer.launched)
      bucket.work = dist::all_reduce(bucket.memory, dist::ReduceOp::avg, {.async_op = true});
  }
  const Json error = error_of([&] { lab::finish(reducer); });
  return {{"error", error}, {"ends", model.ends()}};
}

// What backward throws: no error of the library's.
struct Unreadable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// "fails_in": the batch whose backward throws; -1: none.
Json accumulate(const Json& task) {
  Model model(task);
  model.reducer.syncs = task.at("syncs_before");
  for (Tensor& gradient : model.gradients) gradient.fill_(task.at("before"));
  const auto& batches = task.at("batches");
  Json order = Json::array();
  bool is_the_same = false;
  const Json error = error_of([&] {
    try {
      lab::accumulate(model.reducer, static_cast<int>(batches.size()), [&](int batch) {
        order.push_back(batch);
        if (batch == task.at("fails_in")) throw Unreadable(fmt::format("batch {} cannot be read", batch));
        play(model, task, batches.at(static_cast<std::size_t>(batch)));
      });
    } catch (const Unreadable&) {
      is_the_same = true;
    }
  });
  return {{"error", error},
          {"reached", is_the_same},
          {"order", order},
          {"syncs", model.reducer.syncs},
          {"ends", model.ends()}};
}

Json handle(const Json& task) {
  const std::string call = task.at("call");
  dist::init_process_group();
  if (call == "fill_buckets") return fill_buckets(task);
  if (call == "make_reducer") return make_reducer(task);
  if (call == "backward") return backward(task);
  if (call == "finish") return finish(task);
  if (call == "accumulate") return accumulate(task);
  throw std::logic_error("no such call: " + call);
}

}  // namespace

int main() {
  return judge::serve([](const Json& task) { return judge::attempt([&] { return handle(task); }); });
}
