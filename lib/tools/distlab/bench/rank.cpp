#include "distlab/bench/rank.h"

#include <algorithm>
#include <cstdio>
#include <optional>

#include <fmt/format.h>

#include "dist/backend/nccl/library.h"
#include "dist/core/counted.h"
#include "dist/core/fail.h"

#include "distlab/bench/measure.h"
#include "distlab/bench/results.h"
#include "distlab/bench/table.h"
#include "distlab/commands.h"
#include "distlab/file_text.h"
#include "distlab/terminal.h"
#include "distlab/waiting.h"

namespace distlab::bench {
namespace {

constexpr std::size_t most_slots = 1024;

class Bench {
 public:
  // `peer` and `nccl` are the sides to compare with, or null.
  Bench(const BenchOptions& options, Peer* peer, const dist::ProcessGroup& nccl)
      : peer_(peer), nccl_(nccl), prints_(dist::get_rank() == 0), table_(options.json != "-") {
    run_.options = options;
    run_.plan = make_plan(options);
    run_.backend = dist::get_backend();
    run_.peer = options.compare;
    if (peer) run_.peer_title = peer->title();
    if (nccl) run_.peer_title = "NCCL " + dist::nccl::library()->version();
    constexpr int enough_rounds = 5;
    const dist::Device device = run_.plan.on_device ? dist::get_device() : dist::cpu;
    const int rounds = std::min(options.repeats, enough_rounds);
    const std::string bandwidth = "preparing 1 of 3: the memory's bandwidth";
    say_what_is_next(bandwidth);
    run_.bandwidth = run_.plan.on_device ? device_bandwidth(device, rounds)
                                         : node_bandwidth(run_.plan.ranks, rounds, [&](double share) {
                                             say_what_is_next(bandwidth, share);
                                           });
    say_what_is_next("preparing 2 of 3: how fast ranks meet");
    const bool share_cores = run_.plan.ranks > options.cores;
    if (!run_.plan.on_device) run_.meeting = meeting_seconds(run_.plan.ranks, share_cores, rounds);
    say_what_is_next("preparing 3 of 3: buffers");
    const std::size_t bytes =
        bytes_to_rotate(static_cast<std::size_t>(run_.plan.sizes.back()), options.hot ? 1 : most_slots);
    in_ = std::make_unique<Memory>(bytes, run_.plan.dtype, options.foreign, device);
    out_ = std::make_unique<Memory>(bytes, run_.plan.dtype, options.foreign, device);
  }

  int measure_all() {
    show(title(run_));
    if (prints_) waiting_.emplace(Waiting::Ticks::none);
    const std::size_t all = run_.plan.sizes.size() * run_.plan.algorithms.size();
    std::size_t done = 0;
    for (const std::int64_t size : run_.plan.sizes) {
      for (const std::string& algorithm : run_.plan.algorithms) {
        std::vector<Row> line_rows;
        if (waiting_) waiting_->show("measuring row", done++, all);
        for (const Form form : forms(run_.plan.collective)) line_rows.push_back(row(size, form, algorithm));
        show(line(run_, line_rows));
        rows_.insert(rows_.end(), line_rows.begin(), line_rows.end());
      }
    }
    show(explanation(run_, rows_));
    if (prints_) write_files();
    return verdict();
  }

 private:
  Row row(std::int64_t size, Form form, const std::string& algorithm) {
    const Plan& plan = run_.plan;
    const Question question{plan.collective, plan.ranks, dist::get_rank(), plan.root,
                            plan.dtype,      plan.op,    plan.share(size)};
    std::vector<Slot> slots = make_slots(question, form, *in_, *out_, run_.options.hot ? 1 : most_slots);
    OurSide ours(question, algorithm, slots);
    std::unique_ptr<Side> theirs;
    if (nccl_) theirs = std::make_unique<OurSide>(question, "", slots, nccl_);
    if (peer_) theirs = std::make_unique<PeerSide>(question, form, *peer_, slots);
    Row row;
    row.form = form;
    row.bytes = size;
    row.count = question.count;
    row.wrong = check(question, ours, slots[0]);
    row.algorithm = ours.algorithm();
    if (theirs && check(question, *theirs, slots[0]) > 0)
      dist::fail(dist::Errc::internal, "{} returned a wrong result for {} of {}", run_.peer_title,
                 name(plan.collective), dist::counted(size, "byte"));
    in_->clear();
    out_->clear();
    const Effort effort{run_.options.iterations, run_.options.repeats,
                        std::max<std::int64_t>(5, static_cast<std::int64_t>(slots.size()))};
    const Measured measured = measure(ours, theirs.get(), effort);
    row.iterations = measured.iterations;
    row.ours = one_way(times_of(measured.ours));
    if (theirs) row.peer = one_way(times_of(measured.peer));
    row.limit_s = limit_seconds(run_, form, size);
    return row;
  }

  // Tests one call, and returns how many elements are wrong on all ranks together.
  std::int64_t check(const Question& question, Side& side, Slot& slot) {
    if (slot.out.is_defined()) fill_garbage(slot.out);
    if (slot.in.is_defined()) fill_input(question, slot.in);
    const bool is_within = slot.out.is_defined() && elements(question.collective, 1, 1, true).in == 0;
    if (is_within && (question.collective != Collective::broadcast || question.is_root()))
      fill_input(question, slot.out);
    side.synchronise();
    const dist::Tensor answer = side.answer();
    side.synchronise();
    const bool alone = question.collective == Collective::send_recv && question.partner() < 0;
    dist::Tensor wrong = dist::zeros({1}, dist::DType::i64, dist::cpu);
    if (answer.is_defined() && !alone) wrong.data<std::int64_t>()[0] = count_wrong(question, answer);
    dist::all_reduce(wrong);
    return wrong.item<std::int64_t>();
  }

  // A ping-pong has two messages: half of its time is that of one.
  Times one_way(Times times) const {
    if (run_.plan.collective != Collective::send_recv) return times;
    return {times.median / 2, times.least / 2, times.most / 2};
  }

  // `share` of it is done; 0: not known.
  void say_what_is_next(const std::string& what, double share = 0) {
    if (!prints_) return;
    if (!waiting_) waiting_.emplace(Waiting::Ticks::none);
    waiting_->show(what, [share] { return share; });
  }

  void show(const std::string& text) {
    if (waiting_) waiting_->clear();
    if (!prints_ || !table_) return;
    fmt::print("{}", text);
    flush_stdout();
  }

  void write_files() const {
    const std::string& path = run_.options.json;
    if (!path.empty()) write_output(as_json(run_, rows_) + '\n', path);
    flush_stdout();
    if (!run_.options.plot.empty()) write_svg(as_plot(run_, rows_), run_.options.plot);
  }

  int verdict() const {
    std::int64_t wrong = 0;
    for (const Row& each : rows_) wrong += each.wrong;
    if (wrong == 0) return exit_ok;
    if (prints_)
      fmt::print(stderr, "distlab: {} wrong; see the rows above\n", dist::counted(wrong, "element"));
    return exit_failed;
  }

  Peer* const peer_;
  const dist::ProcessGroup nccl_;
  const bool prints_, table_;
  Run run_;
  std::unique_ptr<Memory> in_, out_;
  std::vector<Row> rows_;
  std::optional<Waiting> waiting_;
};

}  // namespace

int run_rank(const BenchOptions& options) {
  const auto peer = options.compare == "mpi" ? make_mpi_peer() : nullptr;
  try {
    // Tensors are on the CPU unless the options name a GPU backend.
    dist::init_process_group({.backend = options.backend == "auto" ? "host" : options.backend});
    int code = exit_ok;
    {
      dist::ProcessGroup nccl;
      if (options.compare == "nccl")
        nccl = dist::new_group(dist::get_process_group_ranks(), {.backend = "nccl"});
      Bench bench(options, peer.get(), nccl);
      code = bench.measure_all();
    }
    dist::destroy_process_group();
    return code;
  } catch (const dist::Error& error) {
    if (!peer) throw;
    fmt::print(stderr, "distlab: {}\n", error.what());
    peer->abort();
    return exit_failed;
  }
}

}  // namespace distlab::bench
