// Facts about this machine.
#pragma once

#include <string>

namespace distrun {

int visible_gpus();  // NVIDIA devices that CUDA_VISIBLE_DEVICES leaves

bool is_this_machine(const std::string& host);   // `host` is one of its own addresses
std::string bare_host(const std::string& host);  // without the brackets of an IPv6 address
std::string host_name();
int free_port();             // Error{resource} when there is none
std::string random_token();  // 128 bits, as hexadecimal digits

}  // namespace distrun
