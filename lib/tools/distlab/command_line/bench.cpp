// distlab bench.
#include "distlab/command_line/add_command.h"
#include "distlab/command_line/values.h"

namespace distlab {
namespace {

constexpr auto ddp_notes = R"(
Examples:
  ./distlab bench ddp                                   1, 2, ... ranks, one per core
  ./distlab bench ddp -n 2 --compare pytorch            compared with PyTorch (apt-get install python3-torch)
  ./distlab bench ddp -n 2 --device cuda --compare pytorch
  ./distlab bench ddp -n 4 --json out.json --plot out.svg

DISTLAB_PYTHON names another Python with torch. lib/tools/distlab/bench/ddp/README.md explains the figures.
)";

void add_measured(CLI::App& command, DdpBenchOptions& options) {
  command
      .add_option("-n,--nproc", options.ranks, "largest number of ranks (default: one per core, at least 2)")
      ->check(CLI::Range(1, 64));
  command.add_option("--batch-size", options.batch_size, "batch size per rank (default: 64)")
      ->check(positive);
  command.add_option("--device", options.device, "cpu (default); cuda: a GPU per rank, or shared ones")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  command.add_flag("--cut-graphs", options.cut_graphs,
                   "on GPUs with nccl: cut the step's graph at each all-reduce");
  command.add_option("--iters", options.steps, "steps per turn (default: as many as take 250 ms)")
      ->check(positive);
  command.add_option("--repeat", options.repeats, "turns; the table shows the median (default: 15)")
      ->check(positive);
  command.add_option("--compare", options.compare,
                     "pytorch: measure PyTorch and distlab alternately, and show the ratio");
}

void add_ddp_bench_commands(CLI::App& bench, int& exit_code) {
  const auto [command, options] =
      add_command(bench, exit_code, "ddp", "Measure how fast several ranks train a ConvNet", run_ddp_bench);
  add_measured(*command, *options);
  command->add_option("--json", options->json, "write the rows to this file as JSON; -: standard output")
      ->check(a_file_or_stdout);
  command->add_option("--plot", options->plot, "draw images per second into this SVG file")->check(a_file);
  command->footer(ddp_notes);

  // `ddp` starts this command for each row; users do not.
  const auto row = add_command(bench, exit_code, "ddp-row", "Measure one row of ddp", measure_ddp_row);
  row.app->group("");
  add_measured(*row.app, row.options->bench);
  row.app->add_option("--folder", row.options->folder)->required();
}

void add_shard_bench_command(CLI::App& bench, int& exit_code) {
  const auto [command, options] =
      add_command(bench, exit_code, "shard",
                  "Measure a GPT's step in fully_shard and ZeRO-1, compared with DistributedDataParallel",
                  run_shard_bench);
  command->add_option("-n,--nproc", options->ranks, "number of ranks (default: 2, then 4)")
      ->check(CLI::Range(1, 64));
  command->add_option("--layers", options->layers, "number of blocks (default: 4)")->check(positive);
  command->add_option("--width", options->width, "width of the residual stream (default: 128)")
      ->check(positive);
  command->add_option("--context", options->context, "tokens per row (default: 64)")->check(positive);
  command->add_option("--batch-size", options->batch_size, "rows per rank (default: 4)")->check(positive);
  command->add_option("--repeat", options->repeats, "turns; the table shows the median (default: 9)")
      ->check(positive);
}

constexpr auto train_notes = R"(
Examples:
  ./distlab bench train                                 a GPT of 0.8 million parameters, on one thread
  ./distlab bench train --threads 2 --compare pytorch   compared with PyTorch (apt-get install python3-torch)
  ./distlab bench train --model convnet --device cuda --dtype bf16

DISTLAB_PYTHON names another Python with torch. lib/tools/distlab/bench/train/README.md explains the figures.
)";

void add_train_bench_command(CLI::App& bench, int& exit_code) {
  const auto [command, options] =
      add_command(bench, exit_code, "train", "Measure how fast one process trains", run_train_bench);
  command->add_option("--model", options->model, "gpt (default); convnet")
      ->check(CLI::IsMember({"gpt", "convnet"}));
  command->add_option("--device", options->device, "cpu (default); cuda")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  command->add_option("--dtype", options->dtype, "f32 (default); tf32 (f32, rounded for tensor cores); bf16")
      ->check(CLI::IsMember({"f32", "tf32", "bf16"}));
  command->add_option("--threads", options->threads, "threads on the CPU (default: 1)")->check(positive);
  command->add_option("--batch-size", options->batch_size, "sequences (default: 12) or images (default: 64)")
      ->check(positive);
  command->add_option("--layers", options->layers, "blocks of the GPT (default: 4)")->check(positive);
  command->add_option("--heads", options->heads, "heads per block (default: 4)")->check(positive);
  command->add_option("--width", options->width, "width of the residual stream (default: 128)")
      ->check(positive);
  command->add_option("--context", options->context, "tokens per sequence (default: 64)")->check(positive);
  command->add_option("--vocab", options->vocab, "different tokens (default: 65)")->check(positive);
  command->add_option("--iters", options->steps, "steps per turn (default: as many as take 500 ms)")
      ->check(positive);
  command->add_option("--repeat", options->repeats, "turns; the table shows the median (default: 9)")
      ->check(positive);
  command
      ->add_option("--compare", options->compare,
                   "pytorch: measure PyTorch and distlab alternately, and show the ratio")
      ->check(CLI::IsMember({"pytorch"}));
  command->add_option("--json", options->json, "write the figures to this file as JSON; -: standard output")
      ->check(a_file_or_stdout);
  command->footer(train_notes);
}

constexpr auto bench_notes = R"(
Examples:
  ./distlab bench all_reduce --compare mpi              4 B to 64 MiB, compared with Open MPI
  ./distlab bench broadcast -n 4 --all-algorithms --max 1MiB
  ./distlab bench all_reduce --min 64KiB --json out.json --plot out.svg
  ./distlab bench all_reduce --backend cuda --compare nccl
  DIST_TRANSPORT=tcp ./distlab bench send_recv
  ./distlab bench --calibrate && ./distlab bench all_reduce --explain 4MiB -n 8

Collectives: all_reduce, broadcast, reduce, all_gather, reduce_scatter, all_to_all, scatter, gather, barrier,
send_recv (ping-pong). The figures are those of nccl-tests; lib/tools/distlab/bench/README.md explains them.
To measure training: ./distlab bench train --help, and in the same way ddp and shard.
)";

}  // namespace

void add_bench_command(CLI::App& app, int& exit_code) {
  const auto [command, options] = add_command(
      app, exit_code, "bench", "Measure how fast a collective is (in a release build)", run_bench);
  command->add_option("collective", options->what, "which one: all_reduce, broadcast, ..., send_recv");
  command->add_option("-n,--nproc", options->ranks, "number of ranks (default: one per core, at least 2)")
      ->check(positive);
  command->add_option("--min", options->min, "smallest size, such as 4 or 4KiB (default: 4)")
      ->transform(a_size);
  command->add_option("--max", options->max, "largest size (default: 64MiB)")->transform(a_size);
  command->add_option("--factor", options->factor, "factor from one size to the next (default: 4)");
  command->add_option("--dtype", options->dtype, "f32 (default), f16, bf16, f64, u8, i8, i32, i64, bool");
  command->add_option("--op", options->op, "sum (default), avg, product, min, max, band, bor, bxor");
  command->add_option("--root", options->root, "rank of the root (default: 0)");
  command->add_option("--backend", options->backend, "auto (default), host, mpi; on GPUs: cuda, nccl");
  command->add_option("-a,--algorithm", options->algorithm, "such as ring (default: the library chooses)");
  command->add_flag("--all-algorithms", options->all_algorithms, "a row for each algorithm");
  command->add_option("--iters", options->iterations, "calls per batch (default: as many as take 10 ms)");
  command->add_option("--repeat", options->repeats, "batches; the table shows the median (default: 15)");
  command->add_option("--compare", options->compare,
                      "mpi, nccl: measure Open MPI or NCCL and distlab alternately, and show the ratio");
  command->add_flag("--foreign", options->foreign, "use tensors over malloc'ed memory (Tensor::from_blob)");
  command->add_flag("--hot", options->hot, "use the same buffers in every call, so that caches help");
  command->add_option("--json", options->json, "write the rows to this file as JSON; -: standard output")
      ->check(a_file_or_stdout);
  command->add_option("--plot", options->plot, "draw the times into this SVG file")->check(a_file);
  command
      ->add_option(
          "--explain", options->explain,
          "estimate what each algorithm costs at this size, and show which one wins; measures nothing")
      ->transform(a_size);
  command->add_flag("--calibrate", options->calibrate,
                    "measure what messages, sums and shared memory cost here, and save the figures");
  command->footer(bench_notes);
  add_ddp_bench_commands(*command, exit_code);
  add_shard_bench_command(*command, exit_code);
  add_train_bench_command(*command, exit_code);
  command->callback([&exit_code, app = command, options = options] {
    if (app->get_subcommands().empty()) exit_code = run_bench(*options);
  });
}

}  // namespace distlab
