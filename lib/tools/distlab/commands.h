// The commands of the program `distlab`, one source file (or more) each. command_line/ reads their options
// and says in the help what they mean.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dist/core/op_kind.h"
#include "dist/sim/what_if.h"

#include "distlab/bench/ddp/options.h"
#include "distlab/bench/options.h"
#include "distlab/bench/shard/options.h"
#include "distlab/bench/train/options.h"
#include "distlab/result_files.h"
#include "distlab/train/options.h"

namespace distlab {

// The exit codes of all commands; scripts can rely on them. A command that does not return exit_ok has said
// why.
inline constexpr int exit_ok = 0;
inline constexpr int exit_failed = 1;   // a test failed, a grade is not full, a program ended with an error
inline constexpr int exit_usage = 2;    // the command line is wrong
inline constexpr int exit_missing = 3;  // something needed is missing; the message says how to get it

struct TestOptions {
  bool full = false;  // none is left out
  bool rest = false;  // everything without the label "quick"
  bool verbose = false;
  bool rerun_failed = false;
  std::string filter, label;  // regular expressions; empty: all tests
  unsigned jobs = 0;          // at once; 0: as many as there are cores
};

struct DoctorOptions {
  bool json = false;
  bool nccl = false;    // ask NCCL itself which paths it takes
  bool matrix = false;  // only: which operations each backend has
};

struct RunOptions {
  std::string lab;  // as find_lab() takes it
  bool solution = false;
  std::string device;                  // cpu or cuda; empty: a GPU where there is one
  std::string backend;                 // host, cuda, nccl or mpi; empty: the library's choice
  int nproc = 0;                       // ranks of the demo; 0: its own number
  std::vector<std::string> arguments;  // for the lab's demo
};

struct GradeOptions {
  std::string lab;  // or "all", or "begun": those whose file is no longer the starter
  bool solution = false;
  ResultFiles results;               // to be written
  std::filesystem::path runner;      // the program to grade; empty: the lab's own
  std::filesystem::path submission;  // to be built and graded instead; empty: none
  std::optional<std::uint64_t> seed;
  bool quiet = false;  // what is wrong, and not why: that is for `hint`
};

struct LabOptions {
  std::string lab;
};

struct SolutionOptions {
  std::string lab;
  bool spoil = false;  // show it although the lab is not solved yet
};

struct SubmitOptions {
  std::string lab;
  std::filesystem::path output;  // empty: lab_NN.zip here
};

struct GradescopeOptions {
  std::string lab;               // empty: the assignment's title names it
  std::filesystem::path output;  // empty: autograder_lab_NN.zip here
  std::optional<std::uint64_t>
      seed;  // of the random tests, the same for all submissions; empty: a random one
};

struct ClassGradeOptions {
  std::filesystem::path folder;  // of the submissions
  std::string lab;
  unsigned jobs = 0;                  // at once; 0: half as many as there are cores
  std::filesystem::path output;       // a folder; empty: class_lab_NN here
  std::optional<std::uint64_t> seed;  // empty: that of the last run with the same folder, or a random one
  bool again = false;                 // grade unchanged submissions again
};

// One submission of a class; `class grade` starts it.
struct ClassOneOptions {
  std::string lab;
  std::filesystem::path submission;
  std::uint64_t seed = 0;
  std::filesystem::path folder;  // for result.json and all temporary files
};

struct HandoutOptions {
  std::filesystem::path output;  // a folder that does not exist yet; empty: distlab_handout here
  bool check = false;            // build the first lab there and grade its starter
};

struct HintOptions {
  std::string lab;
  int level = 0;  // 1 to 3: that whole page; 0: the next hint about what the last grade found
  bool chinese = false;
};

struct AnswerOptions {
  std::string lab;
  int question = 0;   // 0: all
  std::string value;  // "2.2 GB"; empty: the question is shown
  bool show = false;  // with its solution
  bool chinese = false;
};

struct SimOptions {
  std::string what = "all_reduce";      // a collective, a program's path, or a lab as find_lab() takes it
  std::vector<std::string> arguments;   // of the program
  bool solution = false;                // of the lab
  std::vector<std::string> algorithms;  // empty: all there are
  std::vector<int> ranks;               // empty: 4; for a program what it asks for
  std::vector<std::uint64_t> bytes;     // empty: 4
  std::string sweep;                    // as parse_sweep() takes it, instead of the two above
  std::string topology = "laptop";      // a name or a file
  std::vector<std::string> stragglers, slow_links, losses;  // as dist/sim/what_if.h reads them
  std::string seed, explore;                                // of a program: as DIST_SIM takes them
  bool links = false;                                       // name the busiest links
  std::filesystem::path trace;                              // a file for the events of the run; empty: none
  std::filesystem::path plot;                               // an SVG file; empty: none
  std::string json;                                         // a file, "-" for standard output; empty: none
  bool headline = false;                                    // the course notes' comparison instead
};

struct TraceOptions {
  std::vector<std::filesystem::path> files;  // of one run; or a lab as find_lab() takes it
  std::string format = "ascii";              // or "chrome", "player"
  std::filesystem::path output;              // empty: standard output
  std::filesystem::path html;                // a page that plays it; empty: none
  std::filesystem::path svg;                 // a still of it; empty: none
  int width = 0;                             // of the picture, in columns; 0: as wide as the terminal
  bool ascii = false;                        // no characters beyond ASCII
  std::string test;                          // of the lab; empty: the first that failed
  std::optional<std::uint64_t> seed;         // of the lab's grading; empty: that of the last grade
  std::filesystem::path runner;              // of the lab; empty: its own
};

struct ShowOptions {
  std::string scene;            // empty: they are listed
  std::filesystem::path trace;  // a file for the events of its run; empty: none
  std::filesystem::path html;   // a page that plays them; empty: none
};

struct PipelineOptions {
  std::string schedule = "1f1b";  // gpipe, 1f1b, interleaved or zb-h1
  int ranks = 4, micro_batches = 8;
  int chunks = 0;  // stages per rank; 0: 2 for interleaved, otherwise 1
  std::vector<double> times{1, 1,
                            1};  // of one micro-batch on a rank: forward, input gradient, weight gradient
  double latency = 0;            // from rank to rank, in the same unit
  bool actions = false;          // list what each rank computes, sends and receives
  std::filesystem::path svg;     // a file for the timeline; empty: none
};

struct SlidesOptions {
  bool pdf = false;                // write the decks as PDF
  bool build = false;              // as pages, and show nothing
  int port = 8123;                 // of the server that shows them
  std::vector<std::string> decks;  // "05" or a folder's name, of pages and PDF; empty: all
};

struct WatchOptions {
  std::string lab;  // empty: the first that is not solved
};

// One task of `watch`, in a process of its own that can be stopped at any time.
struct RoundOptions {
  std::string what;  // "grade", "run", "trace"
  std::string lab;
};

struct DigitsOptions {
  bool show = false;
  std::filesystem::path sheet;        // a PNG file; empty: none
  std::optional<std::int64_t> count;  // how many; left out: what fits
  std::uint64_t seed = 1;
};

struct MnistOptions {
  std::filesystem::path folder;  // empty: .distlab/mnist of the checkout
};

struct ExplainOptions {
  std::string log;  // file of a failed build
};

// Each command prints its result, returns an exit code, and throws dist::Error when it cannot do its work.
int play_demo();
int run_doctor(const DoctorOptions& options);
int run_tests(const TestOptions& options);
int list_labs();
int run_lab(const RunOptions& options);
int grade_lab(const GradeOptions& options);
int show_hint(const HintOptions& options);
int answer_question(const AnswerOptions& options);
int start_lab(const LabOptions& options);
int reset_lab(const LabOptions& options);
int show_solution(const SolutionOptions& options);
int submit_lab(const SubmitOptions& options);
int build_autograder(const GradescopeOptions& options);
int grade_class(const ClassGradeOptions& options);
int grade_one_of_class(const ClassOneOptions& options);
int make_handout(const HandoutOptions& options);
int run_bench(const BenchOptions& options);
int run_ddp_bench(const DdpBenchOptions& options);
int measure_ddp_row(const DdpRowOptions& options);
int run_shard_bench(const ShardBenchOptions& options);
int run_train_bench(const TrainBenchOptions& options);
int run_simulation(const SimOptions& options);
// For run_simulation:
int simulate_program(const SimOptions& options, const std::string& program);
// Runs one collective with data, and writes its events to the file that the options name.
void trace_collective(const SimOptions& options, dist::OpKind collective, const dist::sim::WhatIf& what_if);
int show_scene(const ShowOptions& options);
int show_pipeline(const PipelineOptions& options);
int show_trace(const TraceOptions& options);
// For show_trace: shows the run of a test of the lab, and the result of the test.
int trace_lab(const TraceOptions& options, const std::string& lab);
// Draws a trace, or writes the file that the options ask for.
int show_trace_files(const TraceOptions& options);
int show_slides(const SlidesOptions& options);
int train(const TrainOptions& options);
int show_digits(const DigitsOptions& options);
int check_mnist(const MnistOptions& options);
int watch_lab(const WatchOptions& options);
int play_round(const RoundOptions& options);
int explain_build(const ExplainOptions& options);

}  // namespace distlab
