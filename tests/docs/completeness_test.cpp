// The handbook's tables leave nothing out: every public call is listed beside PyTorch's, every algorithm on
// its page.
#include <algorithm>
#include <cctype>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "dist/collectives/algorithms.h"

namespace docs {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream in(PROJECT_FOLDER "/" + path);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

// Names before a "(" in a header, comments apart.
std::set<std::string> functions_of(const std::string& header) {
  std::set<std::string> names;
  std::istringstream in(text_of(header));
  for (std::string line; std::getline(in, line);) {
    line.resize(std::min(line.size(), line.find("//")));
    for (std::size_t open = line.find('('); open != std::string::npos; open = line.find('(', open + 1)) {
      std::size_t begin = open;
      while (begin > 0 &&
             (std::isalnum(static_cast<unsigned char>(line[begin - 1])) != 0 || line[begin - 1] == '_'))
        --begin;
      if (begin < open && std::islower(static_cast<unsigned char>(line[begin])) != 0)
        names.insert(line.substr(begin, open - begin));
    }
  }
  return names;
}

// The example of the page on graphs is compiled and run.
TEST(Graphs, TheExampleIsATest) {
  const std::string page = text_of("labs/handbook/graphs.md"),
                    test = text_of("tests/unit/device/graphed_ddp_test.cpp");
  const std::string begin = "```cpp\n";
  const std::size_t from = page.find(begin) + begin.size();
  const std::string example = page.substr(from, page.find("```", from) - from);
  EXPECT_EQ(std::ranges::count(example, '\n'), 3) << example;
  EXPECT_NE(test.find(example), std::string::npos) << example;
  EXPECT_NE(text_of("labs/handbook/graphs.zh-CN.md").find(example), std::string::npos);
}

class Handbook : public testing::TestWithParam<const char*> {};

TEST_P(Handbook, HasEveryCallBesideTorchs) {
  const std::string page = text_of(std::string("labs/handbook/torch") + GetParam());
  std::set<std::string> names = functions_of("lib/dist/group/process_group.h");
  EXPECT_GT(names.size(), 40u);
  for (const char* not_its_own : {"bool", "here", "move", "state_"}) names.erase(not_its_own);
  for (const std::string& name : names) {
    const bool shown = page.find("dist::" + name + "(") != std::string::npos ||
                       page.find("`" + name + "(") != std::string::npos ||
                       page.find("group." + name + "(") != std::string::npos ||
                       page.find("dist::" + name + "`") != std::string::npos;
    EXPECT_TRUE(shown) << name << " is missing";
  }
}

// The public names of torch.distributed in PyTorch 2.6 (its distributed_c10d.__all__, and what its
// documentation lists besides): each is on the page, as present, different or absent.
TEST_P(Handbook, HasEveryNameOfTorch) {
  const std::string page = text_of(std::string("labs/handbook/torch") + GetParam());
  for (const char* const name : {"AllToAllOptions",
                                 "AllreduceCoalescedOptions",
                                 "AllreduceOptions",
                                 "Backend",
                                 "BackendConfig",
                                 "BarrierOptions",
                                 "BroadcastOptions",
                                 "DebugLevel",
                                 "DistBackendError",
                                 "DistError",
                                 "DistNetworkError",
                                 "DistStoreError",
                                 "FileStore",
                                 "GatherOptions",
                                 "GradBucket",
                                 "GroupMember",
                                 "HashStore",
                                 "P2POp",
                                 "PrefixStore",
                                 "ProcessGroup",
                                 "ProcessGroupGloo",
                                 "ProcessGroupMPI",
                                 "ProcessGroupNCCL",
                                 "ProcessGroupUCC",
                                 "ReduceOp",
                                 "ReduceOptions",
                                 "ReduceScatterOptions",
                                 "ScatterOptions",
                                 "Store",
                                 "TCPStore",
                                 "Work",
                                 "all_gather",
                                 "all_gather_coalesced",
                                 "all_gather_into_tensor",
                                 "all_gather_object",
                                 "all_reduce",
                                 "all_reduce_coalesced",
                                 "all_to_all",
                                 "all_to_all_single",
                                 "barrier",
                                 "batch_isend_irecv",
                                 "breakpoint",
                                 "broadcast",
                                 "broadcast_object_list",
                                 "default_pg_timeout",
                                 "destroy_process_group",
                                 "gather",
                                 "gather_object",
                                 "get_backend",
                                 "get_backend_config",
                                 "get_debug_level",
                                 "get_default_backend_for_device",
                                 "get_global_rank",
                                 "get_group_rank",
                                 "get_node_local_rank",
                                 "get_pg_count",
                                 "get_process_group_ranks",
                                 "get_rank",
                                 "get_world_size",
                                 "group",
                                 "init_device_mesh",
                                 "init_process_group",
                                 "irecv",
                                 "is_available",
                                 "is_backend_available",
                                 "is_gloo_available",
                                 "is_initialized",
                                 "is_mpi_available",
                                 "is_nccl_available",
                                 "is_torchelastic_launched",
                                 "is_ucc_available",
                                 "isend",
                                 "monitored_barrier",
                                 "new_group",
                                 "new_subgroups",
                                 "new_subgroups_by_enumeration",
                                 "recv",
                                 "recv_object_list",
                                 "reduce",
                                 "reduce_op",
                                 "reduce_scatter",
                                 "reduce_scatter_tensor",
                                 "register_rendezvous_handler",
                                 "rendezvous",
                                 "scatter",
                                 "scatter_object_list",
                                 "send",
                                 "send_object_list",
                                 "set_debug_level",
                                 "set_debug_level_from_env",
                                 "split_group",
                                 "supports_complex"}) {
    const bool shown = page.find('`' + std::string(name) + '`') != std::string::npos ||
                       page.find('`' + std::string(name) + '(') != std::string::npos ||
                       page.find('`' + std::string(name) + '.') != std::string::npos;
    EXPECT_TRUE(shown) << name << " is missing";
  }
}

TEST_P(Handbook, HasEveryAlgorithm) {
  const std::string page = text_of(std::string("labs/handbook/algorithms") + GetParam());
  for (const dist::AlgorithmEntry& entry : dist::algorithms())
    EXPECT_NE(page.find("`" + std::string(entry.name) + "`"), std::string::npos)
        << entry.name << " is missing";
}

INSTANTIATE_TEST_SUITE_P(Languages, Handbook, testing::Values(".md", ".zh-CN.md"));

}  // namespace
}  // namespace docs
