#include "distlab/bench/options.h"

#include <charconv>
#include <limits>
#include <thread>

#include <fmt/ranges.h>

#include "dist/backend/backend.h"
#include "dist/collectives/algorithms.h"
#include "dist/core/counted.h"
#include "dist/core/fail.h"

namespace distlab::bench {
namespace {

using dist::Errc;
using dist::fail;

constexpr int most_ranks = 1024;

// All options that the ranks get, by name; used for both directions.
template <class Options, class F>
void each_option(Options& options, F&& f) {
  f("what", options.what);
  f("ranks", options.ranks);
  f("cores", options.cores);
  f("min", options.min);
  f("max", options.max);
  f("factor", options.factor);
  f("dtype", options.dtype);
  f("op", options.op);
  f("root", options.root);
  f("backend", options.backend);
  f("algorithm", options.algorithm);
  f("all_algorithms", options.all_algorithms);
  f("iterations", options.iterations);
  f("repeats", options.repeats);
  f("json", options.json);
  f("plot", options.plot);
  f("compare", options.compare);
  f("foreign", options.foreign);
  f("hot", options.hot);
  f("calibrate", options.calibrate);
}

std::string text_of(const std::string& value) { return value; }
std::string text_of(const std::filesystem::path& value) { return value.string(); }
std::string text_of(bool value) { return value ? "1" : "0"; }
template <class T>
std::string text_of(T number) {
  return std::to_string(number);
}

bool read(std::string_view text, std::string& into) { return into = text, true; }
bool read(std::string_view text, std::filesystem::path& into) { return into = text, true; }
template <class T>
bool read(std::string_view text, T& into) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  into = static_cast<T>(number);
  return error == std::errc() && end == text.data() + text.size();
}

dist::DType dtype_named(const std::string& text) {
  std::vector<std::string_view> names;
  for (const auto dtype : dist::all_dtypes) {
    if (dist::name(dtype) == text) return dtype;
    names.push_back(dist::name(dtype));
  }
  fail(Errc::invalid_argument, "--dtype cannot be \"{}\"; choose one of {}", text, fmt::join(names, ", "));
}

// premul_sum is not offered, because it needs a factor.
dist::ReduceOp op_named(const std::string& text) {
  std::vector<std::string_view> names;
  for (int i = 0; i < static_cast<int>(dist::ReduceOp::Kind::premul_sum); ++i) {
    const auto kind = static_cast<dist::ReduceOp::Kind>(i);
    if (dist::name(kind) == text) return dist::ReduceOp(kind);
    names.push_back(dist::name(kind));
  }
  fail(Errc::invalid_argument, "--op cannot be \"{}\"; choose one of {}", text, fmt::join(names, ", "));
}

std::vector<std::string> algorithms_of(const BenchOptions& options, Collective collective) {
  if (options.all_algorithms && !options.algorithm.empty())
    fail(Errc::invalid_argument,
         "--algorithm and --all-algorithms cannot be combined; leave one of them out");
  const bool is_message = collective == Collective::send_recv;
  if (is_message && (options.all_algorithms || !options.algorithm.empty()))
    fail(Errc::invalid_argument,
         "send_recv is a message and has no algorithms; leave --algorithm and --all-algorithms out");
  if (options.backend == "mpi" && (options.all_algorithms || !options.algorithm.empty()))
    fail(Errc::invalid_argument,
         "--backend mpi leaves the choice of the algorithm to MPI; leave --algorithm and --all-algorithms "
         "out");
  if (!options.all_algorithms) {
    if (!options.algorithm.empty()) dist::find_algorithm(kind_of(collective), options.algorithm);
    return {options.algorithm};
  }
  std::vector<std::string> names;
  for (const auto& entry : dist::algorithms())
    if (entry.collective == kind_of(collective)) names.emplace_back(entry.name);
  return names;
}

// Does not touch the GPU, because this process will fork the ranks, and CUDA does not survive that.
bool is_on_device(const std::string& backend) {
  if (backend == "sim")
    fail(Errc::invalid_argument, "--backend sim: bench measures real ranks; to simulate them: ./distlab sim");
  return backend != "auto" && dist::backend_named(backend).device != dist::DeviceType::cpu;
}

void check_numbers(const BenchOptions& options, const Plan& plan) {
  if (plan.ranks < 1 || plan.ranks > most_ranks)
    fail(Errc::invalid_argument, "--nproc is {}; it must be from 1 to {}", plan.ranks, most_ranks);
  if (plan.collective == Collective::send_recv && plan.ranks < 2)
    fail(Errc::invalid_argument, "send_recv needs at least two ranks, but --nproc is {}", plan.ranks);
  if (plan.root < 0 || plan.root >= plan.ranks)
    fail(Errc::invalid_argument, "--root is {}; it must be from 0 to {}", plan.root, plan.ranks - 1);
  if (options.min > options.max)
    fail(Errc::invalid_argument, "--min is {}, but --max is only {}", dist::counted(options.min, "byte"),
         options.max);
  constexpr std::uint64_t most = std::uint64_t{16} << 30;
  if (options.max > most)
    fail(Errc::invalid_argument, "--max is {} bytes; it must be at most 16 GiB", options.max);
  if (options.factor < 2)
    fail(Errc::invalid_argument, "--factor is {}; it must be at least 2", options.factor);
  if (options.repeats < 1)
    fail(Errc::invalid_argument, "--repeat is {}; it must be at least 1", options.repeats);
  if (options.iterations < 0)
    fail(Errc::invalid_argument, "--iters is {}; it must be at least 1, or 0 for as many as take 10 ms",
         options.iterations);
}

void check_comparison(const BenchOptions& options, const Plan& plan) {
  if (options.compare.empty()) return;
  if (options.compare == "nccl") {
    if (!plan.on_device) fail(Errc::unsupported, "--compare nccl needs tensors on a GPU; add --backend cuda");
    return;
  }
  if (options.compare == "mpi" && plan.on_device)
    fail(Errc::unsupported, "--compare mpi needs tensors on the CPU; leave out --backend {}",
         options.backend);
  if (options.compare != "mpi")
    fail(Errc::invalid_argument, "--compare cannot be \"{}\"; choose mpi or nccl", options.compare);
  if (options.max / dist::size_of(plan.dtype) > std::numeric_limits<int>::max())
    fail(Errc::unsupported,
         "--compare mpi: MPI counts elements with an int, and --max {} has too many; choose a smaller one",
         options.max);
  if (!reduces(plan.collective)) return;
  if (plan.op == dist::ReduceOp::avg)
    fail(Errc::unsupported, "--compare mpi: MPI has no avg; choose --op sum");
  const auto dtype = plan.dtype;
  if (dtype == dist::DType::f16 || dtype == dist::DType::bf16 || dtype == dist::DType::boolean)
    fail(Errc::unsupported, "--compare mpi: MPI cannot reduce {}; choose f32, f64 or an integer type",
         dist::name(dtype));
}

}  // namespace

std::int64_t Plan::share(std::int64_t size) const {
  return size / static_cast<std::int64_t>(dist::size_of(dtype)) / shares(collective, ranks);
}

Plan make_plan(const BenchOptions& options) {
  Plan plan;
  if (options.what.empty())
    fail(Errc::invalid_argument,
         "which collective? For example: ./distlab bench all_reduce; --help lists them all");
  plan.collective = collective_named(options.what);
  plan.ranks = options.ranks;
  if (plan.ranks == 0) plan.ranks = std::max(2, static_cast<int>(std::thread::hardware_concurrency()));
  plan.dtype = dtype_named(options.dtype);
  plan.op = op_named(options.op);
  plan.root = options.root;
  plan.on_device = is_on_device(options.backend);
  check_numbers(options, plan);
  if (reduces(plan.collective) && !dist::is_defined(plan.op.kind(), plan.dtype))
    fail(Errc::invalid_argument, "--op {} is not defined for {}", options.op, options.dtype);
  plan.algorithms = algorithms_of(options, plan.collective);
  if (plan.on_device && options.foreign)
    fail(Errc::invalid_argument,
         "--foreign is for memory of the CPU; leave it out, or leave out --backend {}", options.backend);
  check_comparison(options, plan);
  const std::int64_t unit = has_data(plan.collective) ? static_cast<std::int64_t>(dist::size_of(plan.dtype)) *
                                                            shares(plan.collective, plan.ranks)
                                                      : 0;
  const SizeRange range{static_cast<std::int64_t>(options.min), static_cast<std::int64_t>(options.max),
                        options.factor};
  plan.sizes = sizes(range, unit);
  if (!options.plot.empty() && plan.sizes.size() < 2)
    fail(Errc::invalid_argument, "--plot needs several sizes, but this range has only one");
  return plan;
}

std::vector<std::string> to_words(const BenchOptions& options) {
  std::vector<std::string> words;
  each_option(options, [&](const char* name, const auto& value) {
    words.push_back(fmt::format("{}={}", name, text_of(value)));
  });
  return words;
}

BenchOptions from_words(const std::vector<std::string>& words) {
  BenchOptions options;
  for (const std::string& word : words) {
    bool known = false;
    each_option(options, [&](const std::string& name, auto& value) {
      if (word.starts_with(name + '=')) known = read(std::string_view(word).substr(name.size() + 1), value);
    });
    if (!known)
      fail(Errc::invalid_argument, "\"{}\" is not an option of this program; start it with ./distlab bench",
           word);
  }
  return options;
}

}  // namespace distlab::bench
