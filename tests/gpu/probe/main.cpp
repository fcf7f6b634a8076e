// gpu_probe: what this machine's GPU and driver really do, asked once, so that the GPU transport rests on
// answers.
//
//   gpu_probe [--json FILE] [--only TEXT] [--device N] [--skip-code N] [--list] [--self-test]
//
// Exit code 0 when all questions were asked, whatever the answers; --skip-code when there is no GPU (default
// 0).
#include <cstdlib>
#include <cstring>

#include "gpu.h"
#include "probes.h"
#include "report.h"
#include "self_test.h"

namespace probe {
namespace {

constexpr Probe probes[] = {
    {"device", "what is here?", 30, device_and_versions},
    {"context.cost", "what does one more process on the GPU cost?", 60, context_cost},
    {"map.ipc", "may another process map cudaMalloc memory (cudaIpc)?", 30, ipc_mapping},
    {"map.killed_exporter", "does mapped memory outlive the process that exported it?", 30, killed_exporter},
    {"map.vmm", "may another process map cuMemCreate memory by descriptor?", 30, vmm_mapping},
    {"map.memfd", "may two processes register one memfd with CUDA?", 60, registered_memfd},
    {"signal.stream_flags", "do streams of two processes meet by write/wait on shared host memory?", 30,
     stream_flags},
    {"signal.host", "does a host store release a waiting stream, and how fast?", 30, stream_flags_and_host},
    {"signal.ipc_events", "do IPC events order two processes' streams, and how fast?", 30, ipc_events},
    {"signal.killed_waiter", "does a rank killed in a wait leave the GPU usable?", 30, killed_waiter},
    {"share.spin", "what does a spinning kernel of another process cost?", 60, spinning_neighbour},
    {"share.wait", "what does a waiting stream of another process cost?", 60, waiting_neighbour},
    {"share.busy", "what does a busy process on the same GPU cost?", 60, busy_neighbour},
    {"share.handoff", "what does a kernel cost when two processes take turns?", 60, handoff},
    {"share.threads", "do kernels of thread ranks overlap?", 30, thread_ranks_overlap},
    {"share.processes", "do kernels of process ranks overlap?", 60, process_ranks_overlap},
    {"copy.device", "how fast is a copy on the device?", 60, device_copies},
    {"copy.host", "how fast is a copy from and to the host?", 60, host_copies},
    {"nccl.plain", "does NCCL take two ranks on one GPU as it is?", 60, nccl_plain},
    {"nccl.hostid", "does NCCL take them with a distinct NCCL_HOSTID?", 90, nccl_hostid},
};

struct Arguments {
  const char* json = nullptr;
  const char* only = "";
  int skip_code = 0;
  bool list = false, self_test = false;
};

[[noreturn]] void usage(const char* wrong) {
  std::fprintf(
      stderr,
      "gpu_probe: %s\nusage: gpu_probe [--json FILE|-] [--only TEXT] [--device N] [--skip-code N] [--list] "
      "[--self-test]\n",
      wrong);
  std::exit(2);
}

Arguments read_arguments(int argc, char** argv) {
  Arguments result;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const auto value = [&] {
      return i + 1 < argc ? argv[++i] : (usage((flag + " needs a value").c_str()), nullptr);
    };
    if (flag == "--json")
      result.json = value();
    else if (flag == "--only")
      result.only = value();
    else if (flag == "--device")
      chosen_device = std::atoi(value());
    else if (flag == "--skip-code")
      result.skip_code = std::atoi(value());
    else if (flag == "--list")
      result.list = true;
    else if (flag == "--self-test")
      result.self_test = true;
    else
      usage(("unknown option " + flag).c_str());
  }
  return result;
}

// In a process of its own, like everything that touches CUDA.
Row look_for_gpu() {
  return run_isolated({"gpu", "is there one?", 30, [](const Report&) {
                         std::string why;
                         if (!find_gpu(&why)) throw Skipped(why);
                       }});
}

int run(const Arguments& arguments) {
  if (arguments.list) {
    for (const Probe& p : probes) std::printf("%-24s %s\n", p.name, p.question);
    return 0;
  }
  if (arguments.self_test) return self_test();
  const Row gpu = look_for_gpu();
  if (gpu.status != Status::works) {
    std::printf("no GPU: nothing probed (%s)\n", gpu.notes.empty() ? name(gpu.status) : gpu.notes[0].c_str());
    return arguments.skip_code;
  }
  std::vector<Row> rows;
  for (const Probe& p : probes) {
    if (strstr(p.name, arguments.only) == nullptr) continue;
    rows.push_back(run_isolated(p));
    print_row(rows.back());
  }
  if (arguments.json == nullptr) return 0;
  std::FILE* out = strcmp(arguments.json, "-") == 0 ? stdout : std::fopen(arguments.json, "w");
  if (out == nullptr) usage((std::string("cannot write ") + arguments.json).c_str());
  write_json(out, rows);
  if (out != stdout) std::fclose(out);
  return 0;
}

}  // namespace
}  // namespace probe

int main(int argc, char** argv) {
  // Loading a kernel at its first launch may wait for the whole context: forever, when a stream waits for a
  // flag.
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  return probe::run(probe::read_arguments(argc, argv));
}
