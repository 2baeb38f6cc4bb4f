// clang-format off
    const int warp = threadIdx.x / 32 % 4;
    const int lane = threadIdx.x % 32;
    const int warpgroup_row = warpgroup / kConsumersN * kWarpgroupM;  // of the warpgroup tile in the block tile
    const int warpgroup_column = warpgroup % kConsumersN * kWarpgroupN;
#if GEMM_A_IN_REGISTERS
    const unsigned a = shared.stage_a(0) + FragmentsA::place(warpgroup_row + warp * 16, lane);
#else
    const unsigned long long a =
        OperandA::kDescriptor | (descriptor_address(shared.stage_a(0)) + OperandA::offset(warpgroup_row, 0));
#endif
    const unsigned long long b =
        OperandB::kDescriptor | (descriptor_address(shared.stage_b(0)) + OperandB::offset(warpgroup_column, 0));
