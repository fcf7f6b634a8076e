// distlab bench.
#include "distlab/command_line/add_command.h"
#include "distlab/command_line/values.h"

namespace distlab {
namespace {

constexpr auto ddp_notes = R"(
Examples:
  ./distlab bench ddp                                   1, 2, ... ranks, one a core
  ./distlab bench ddp -n 2 --compare pytorch            beside the system's PyTorch (apt-get install python3-torch)
  ./distlab bench ddp -n 4 --json out.json --plot out.svg

DISTLAB_PYTHON names another Python with torch. What the figures are: lib/tools/distlab/bench/ddp/README.md.
)";

void add_measured(CLI::App& command, DdpBenchOptions& options) {
  command.add_option("-n,--nproc", options.ranks, "the most ranks; one a core when left out, two at least")
      ->check(CLI::Range(1, 64));
  command.add_option("--batch-size", options.batch_size, "of each rank; 64 when left out")->check(positive);
  command.add_option("--iters", options.steps, "steps of a turn; as many as take 250 ms if left out")
      ->check(positive);
  command.add_option("--repeat", options.repeats, "turns, of which the median is taken: 15")->check(positive);
  command.add_option("--compare", options.compare, "pytorch: the same by it, in turn, and the ratio");
}

void add_ddp_bench_commands(CLI::App& bench, int& exit_code) {
  const auto [command, options] =
      add_command(bench, exit_code, "ddp", "How fast do several ranks train a ConvNet here?", run_ddp_bench);
  add_measured(*command, *options);
  command->add_option("--json", options->json, "write the rows to this file, - for standard output")
      ->check(a_file_or_stdout);
  command->add_option("--plot", options->plot, "draw images a second into this SVG file")->check(a_file);
  command->footer(ddp_notes);

  // What `ddp` starts; not for people.
  const auto row = add_command(bench, exit_code, "ddp-row", "One row of ddp", measure_ddp_row);
  row.app->group("");
  add_measured(*row.app, row.options->bench);
  row.app->add_option("--folder", row.options->folder)->required();
}

constexpr auto bench_notes = R"(
Examples:
  ./distlab bench all_reduce --compare mpi              4 B to 64 MiB, beside Open MPI
  ./distlab bench broadcast -n 4 --all-algorithms --max 1MiB
  ./distlab bench all_reduce --min 64KiB --json out.json --plot out.svg
  ./distlab bench all_reduce --backend cuda --compare nccl
  DIST_TRANSPORT=tcp ./distlab bench send_recv
  ./distlab bench --calibrate && ./distlab bench all_reduce --explain 4MiB -n 8

Collectives: all_reduce, broadcast, reduce, all_gather, reduce_scatter, all_to_all, scatter, gather, barrier,
send_recv (ping-pong). Figures as in nccl-tests; lib/tools/distlab/bench/README.md says how they are taken.
How fast training is: ./distlab bench ddp --help.
)";

}  // namespace

void add_bench_command(CLI::App& app, int& exit_code) {
  const auto [command, options] =
      add_command(app, exit_code, "bench", "How fast is a collective here? In a release build", run_bench);
  command->add_option("collective", options->what, "all_reduce, broadcast, ..., send_recv");
  command->add_option("-n,--nproc", options->ranks, "ranks; one a core when left out, two at least")
      ->check(positive);
  command->add_option("--min", options->min, "smallest size: 4, 4KiB")->transform(a_size);
  command->add_option("--max", options->max, "largest size: 64MiB")->transform(a_size);
  command->add_option("--factor", options->factor, "from one size to the next: 4");
  command->add_option("--dtype", options->dtype, "f32; f16, bf16, f64, u8, i8, i32, i64, bool");
  command->add_option("--op", options->op, "sum; avg, product, min, max, band, bor, bxor");
  command->add_option("--root", options->root, "rank 0");
  command->add_option("--backend", options->backend, "auto when left out; on GPUs: cuda, nccl");
  command->add_option("-a,--algorithm", options->algorithm,
                      "this one, as ring; the library's choice if left out");
  command->add_flag("--all-algorithms", options->all_algorithms, "a row for each");
  command->add_option("--iters", options->iterations, "calls of a batch; as many as take 10 ms if left out");
  command->add_option("--repeat", options->repeats, "batches, of which the median is taken: 15");
  command->add_option("--compare", options->compare,
                      "mpi, nccl: the same by Open MPI or NCCL, in turn, and the ratio");
  command->add_flag("--foreign", options->foreign, "tensors over malloc'ed memory (Tensor::from_blob)");
  command->add_flag("--hot", options->hot, "the same buffers in every call: what caches make of it");
  command->add_option("--json", options->json, "write the rows to this file, - for standard output")
      ->check(a_file_or_stdout);
  command->add_option("--plot", options->plot, "draw the times into this SVG file")->check(a_file);
  command
      ->add_option("--explain", options->explain,
                   "SIZE: what each algorithm would cost here, and which one wins; measures nothing")
      ->transform(a_size);
  command->add_flag("--calibrate", options->calibrate,
                    "measure what messages, sums and shared memory cost here, and keep it");
  command->footer(bench_notes);
  add_ddp_bench_commands(*command, exit_code);
  command->callback([&exit_code, app = command, options = options] {
    if (app->get_subcommands().empty()) exit_code = run_bench(*options);
  });
}

}  // namespace distlab
