# A model of transformers, made from its configuration, under torch.compile: its norms, with the rotations and residual sums around
# them, are our kernels. On a GPU, or on the simulator where there is none.
import torch
import transformers

import rmsnorm.torch

torch.manual_seed(0)
config = transformers.Qwen3Config(hidden_size=256, intermediate_size=512, num_hidden_layers=2, num_attention_heads=4,
                                  num_key_value_heads=2, head_dim=64, vocab_size=512)
on_gpu = torch.cuda.is_available()
model = transformers.AutoModelForCausalLM.from_config(config).bfloat16().eval().to("cuda" if on_gpu else "cpu")
compiled = torch.compile(model, backend="rmsnorm", options={} if on_gpu else {"target": "sim:sm_90"})

ids = torch.randint(0, 512, (1, 24), device=model.device)
with torch.no_grad():
    logits, expected = compiled(ids, use_cache=False).logits.float(), model(ids, use_cache=False).logits.float()
print(rmsnorm.torch.report())
print("as in eager mode:", torch.allclose(logits, expected, atol=0.02))
