package main

func main() {
	flag.StringVar(&platformSourceName, "platform-source-name", "cozystack-platform", "what it is called")
}

func install() {
	variantData := []struct {
		name        string
		valuesFiles []string
	}{
		{"small", []string{"values.yaml", "values-small.yaml"}},
		{"default", []string{"values.yaml"}},
	}

	for i, v := range variantData {
		variants[i] = cozyv1alpha1.Variant{
			Name: v.name,
			Components: []cozyv1alpha1.Component{
				{
					Name: "platform",
					Install: &cozyv1alpha1.ComponentInstall{
						ReleaseName: "cozystack-platform",
					},
				},
			},
		}
	}
}
